import type { BusRights, Reading } from './bus-rights.js';
import {
  MessageBus,
  type Consumer,
  type ConsumerOptions,
  type FeedMessage,
  type ListenerOptions,
  type OutgoingMessage,
  type Reply,
  type RequestHandler,
  type RequestOptions,
  type Serving,
  type Subject,
} from './message-bus.js';

/** A use of the bus that the participant's rights do not include. A bug: it cannot be corrected at run time. */
export class NotPermitted extends Error {
  override readonly name = 'NotPermitted';
  constructor(participant: string, does: string, what: string) {
    super(`${participant} may not ${does} ${what}: it is not among its rights on the bus`);
  }
}

const readings = (declared: readonly Reading[]): ReadonlyMap<string, ReadonlySet<Subject>> =>
  new Map(declared.map(({ name, subjects }) => [name, new Set(subjects)]));

/**
 * One participant's access to a bus: it sends requests in its own name, and may do only what its rights include. What a NATS server would
 * refuse fails here first, also when all services share one process. Closing it leaves the bus open.
 */
export class RestrictedBus extends MessageBus {
  private readonly serves: ReadonlySet<Subject>;
  private readonly calls: ReadonlySet<Subject>;
  private readonly publishes: ReadonlySet<Subject>;
  private readonly consumes: ReadonlyMap<string, ReadonlySet<Subject>>;
  private readonly listens: ReadonlyMap<string, ReadonlySet<Subject>>;

  constructor(
    private readonly inner: MessageBus,
    private readonly rights: BusRights,
  ) {
    super();
    this.serves = new Set(rights.serves);
    this.calls = new Set(rights.calls);
    this.publishes = new Set(rights.publishes);
    this.consumes = readings(rights.consumes);
    this.listens = readings(rights.listens);
  }

  /** @throws NotPermitted */
  serve(subject: Subject, handler: RequestHandler): Serving {
    if (!this.serves.has(subject)) throw this.refusal('serve', subject);
    return this.inner.serve(subject, handler);
  }

  async request<T>(subject: Subject, data: unknown, options: RequestOptions): Promise<Reply<T>> {
    if (!this.calls.has(subject)) throw this.refusal('request', subject);
    return this.inner.request<T>(subject, data, { ...options, from: this.rights.name });
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<void> {
    for (const { subject } of messages) if (!this.publishes.has(subject)) throw this.refusal('publish', subject);
    return this.inner.publish(messages);
  }

  /** @throws NotPermitted */
  consume(options: ConsumerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    this.checkReading('consume', this.consumes, options);
    return this.inner.consume(options, handler);
  }

  /** @throws NotPermitted */
  listen(options: ListenerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    this.checkReading('listen to', this.listens, options);
    return this.inner.listen(options, handler);
  }

  /** Every participant may read the head of the feed. */
  head(): Promise<string | undefined> {
    return this.inner.head();
  }

  async close(): Promise<void> {}

  /** Name and all subjects as declared: a NATS server gets one filter for all of them. */
  private checkReading(
    does: string,
    declared: ReadonlyMap<string, ReadonlySet<Subject>>,
    { name, subjects }: Reading,
  ): void {
    const permitted = declared.get(name);
    if (!permitted) throw this.refusal(does, `the feed as ${name}`);
    const other = subjects.find((subject) => !permitted.has(subject));
    if (other !== undefined) throw this.refusal(does, `${other} as ${name}`);
    const missing = [...permitted].find((subject) => !subjects.includes(subject));
    if (missing !== undefined) throw this.refusal(does, `the feed as ${name} without ${missing}`);
  }

  private refusal(does: string, what: string): NotPermitted {
    return new NotPermitted(this.rights.name, does, what);
  }
}
