import {
  AppendTooLarge,
  EventStore,
  WrongExpectedRevision,
  type AllPage,
  type AppendResult,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
  type Revision,
  type StreamAppend,
  type StreamName,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionHandler,
  type UnitOfWork,
} from './event-store.js';

/**
 * One of several platforms on a server that has no schemas or databases: the names of its streams begin with a prefix, which is not visible
 * here. `head` is the whole server's.
 */
export class PrefixedEventStore extends EventStore {
  constructor(
    private readonly inner: EventStore,
    private readonly prefix: string,
  ) {
    super();
    if (!/^[A-Za-z0-9_]+$/.test(prefix)) throw new RangeError(`a prefix is letters, digits and _: ${prefix}`);
  }

  append(stream: StreamName, events: readonly NewEvent[], expected: Revision): Promise<AppendResult> {
    return this.named(() => this.inner.append(this.outer(stream), events, expected));
  }

  override commit({ writes, appends }: UnitOfWork): Promise<AppendResult> {
    const outer = (append: StreamAppend): StreamAppend => ({ ...append, stream: this.outer(append.stream) });
    const last = outer(appends.at(-1)!);
    return this.named(() => this.inner.commit({ writes, appends: [...appends.slice(0, -1).map(outer), last] }));
  }

  /** Errors name streams as they are known here. */
  private async named<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof WrongExpectedRevision)
        throw new WrongExpectedRevision(this.inside(error.stream), error.expected, error.actual);
      if (error instanceof AppendTooLarge) throw new AppendTooLarge(this.inside(error.stream), error.bytes);
      throw error;
    }
  }

  async readStream(stream: StreamName, options?: ReadStreamOptions): Promise<RecordedEvent[]> {
    return this.ours(await this.inner.readStream(this.outer(stream), options));
  }

  override knownRevision(stream: StreamName): Revision | undefined {
    return this.inner.knownRevision(this.outer(stream));
  }

  async readAll(options: ReadAllOptions): Promise<AllPage> {
    const page = await this.inner.readAll({ ...options, categories: this.categories(options.categories) });
    return { ...page, events: this.ours(page.events) };
  }

  async readTenant(tenantId: string, after: Position | undefined, limit: number): Promise<AllPage> {
    const page = await this.inner.readTenant(tenantId, after, limit);
    return { ...page, events: this.ours(page.events) };
  }

  async tenantStreams(tenantId: string, afterName: StreamName | undefined, limit: number): Promise<StreamName[]> {
    // Names with the prefix follow each other.
    const start = this.outer('');
    const names = await this.inner.tenantStreams(tenantId, this.outer(afterName ?? ''), limit);
    return names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
  }

  subscribe(options: SubscribeOptions, handler: SubscriptionHandler): Subscription {
    return this.inner.subscribe(
      { ...options, categories: this.categories(options.categories) },
      {
        onEvents: (events, next) => handler.onEvents(this.ours(events), next),
        onDropped: (error) => handler.onDropped(error),
      },
    );
  }

  head(): Promise<Position | undefined> {
    return this.inner.head();
  }

  comparePositions(a: Position, b: Position): number {
    return this.inner.comparePositions(a, b);
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private outer(stream: StreamName): StreamName {
    return `${this.prefix}.${stream}`;
  }

  private inside(stream: StreamName): StreamName {
    return stream.slice(this.prefix.length + 1);
  }

  private categories(categories: readonly string[] | undefined): readonly string[] | undefined {
    return categories?.map((category) => `${this.prefix}.${category}`);
  }

  private ours(events: readonly RecordedEvent[]): RecordedEvent[] {
    const start = `${this.prefix}.`;
    return events
      .filter(({ stream }) => stream.startsWith(start))
      .map((event) => ({ ...event, stream: this.inside(event.stream) }));
  }
}
