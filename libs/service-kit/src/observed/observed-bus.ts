import {
  MessageBus,
  RequestFailed,
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
} from '@attestry/messaging';
import type { Metrics } from '../metrics/metrics.js';
import { isSampled, type Tracing } from '../tracing/tracing.js';

/** Since when the oldest message in progress waits, milliseconds since the epoch. */
const waitingSince = (messages: readonly FeedMessage[]): number => {
  const happened = Date.parse(messages[0]?.headers['occurredAt'] ?? '');
  return Number.isNaN(happened) ? Date.now() : happened;
};

/** A batch that is being handled, or waits for its next attempt. */
interface RunningBatch {
  /** Since when its oldest message waits, milliseconds since the epoch. */
  since: number;
  /** End of the last attempt that failed, `performance.now()`; absent during an attempt. */
  failedAt?: number;
}

/** Attempts follow each other within 30 s; a batch that does not return is now handled by another process. */
const GONE_MS = 60_000;

const isGone = ({ failedAt }: RunningBatch): boolean =>
  failedAt !== undefined && performance.now() - failedAt > GONE_MS;

/** A message bus whose messages are counted, timed, and traced under the `traceparent` in the headers. */
export class ObservedBus extends MessageBus {
  /** Batches in progress of each consumer. */
  private readonly runningBatches = new Map<string, RunningBatch | undefined>();
  private readonly countPublished;
  private readonly publishSeconds;
  private readonly outboxDelay;

  constructor(
    private readonly inner: MessageBus,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
  ) {
    super();
    this.countPublished = metrics.bindCounter('feedPublished', {});
    this.publishSeconds = metrics.bindHistogram('feedPublishSeconds', {});
    this.outboxDelay = metrics.bindHistogram('outboxDelay', {});
    const lag = metrics.gauge('consumerLag');
    metrics.onScrape(() => {
      for (const [consumer, batch] of this.runningBatches)
        lag.set({ consumer }, batch && !isGone(batch) ? Math.max(0, (Date.now() - batch.since) / 1000) : 0);
    });
  }

  serve(subject: Subject, handler: RequestHandler): Serving {
    return this.inner.serve(subject, handler);
  }

  async request<T>(subject: Subject, data: unknown, options: RequestOptions): Promise<Reply<T>> {
    const parent = options.headers?.['traceparent'];
    if (!this.tracing.on || !isSampled(parent)) return this.timed(subject, data, options);
    const span = this.tracing.start(`request ${subject}`, {
      kind: 'client',
      parent,
      attributes: { 'messaging.destination.name': subject },
    });
    try {
      const headers = { ...options.headers, traceparent: span.traceparent };
      const reply = await this.timed<T>(subject, data, { ...options, headers });
      span.end();
      return reply;
    } catch (error) {
      span.end({ error: error instanceof RequestFailed ? error.reason : 'error' });
      throw error;
    }
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<void> {
    if (!messages.length) return;
    const startedAt = performance.now();
    try {
      await this.inner.publish(messages);
    } catch (error) {
      this.metrics.counter('feedPublishFailures').inc();
      throw error;
    }
    this.publishSeconds((performance.now() - startedAt) / 1000);
    this.countPublished(messages.length);
    for (const { headers } of messages) {
      const occurredAt = headers?.['occurredAt'];
      if (occurredAt !== undefined) this.outboxDelay(Math.max(0, (Date.now() - Date.parse(occurredAt)) / 1000));
    }
  }

  consume(options: ConsumerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    const consumer = this.inner.consume(options, this.observed(options.name, handler));
    const held = this.metrics.gauge('leaseHeld');
    this.metrics.onScrape(() => held.set({ lease: options.name }, consumer.isHeld ? 1 : 0));
    return consumer;
  }

  listen(options: ListenerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    return this.inner.listen(options, this.observed(options.name, handler));
  }

  private observed(consumer: string, handler: (messages: FeedMessage[]) => Promise<void>) {
    const countConsumed = this.metrics.bindCounter('consumed', { consumer });
    const failures = this.metrics.counter('consumerFailures');
    this.runningBatches.set(consumer, undefined);
    return async (messages: FeedMessage[]): Promise<void> => {
      // Attempts of one batch follow each other: its messages wait since the first one.
      const before = this.runningBatches.get(consumer);
      const since = before && !isGone(before) ? before.since : waitingSince(messages);
      this.runningBatches.set(consumer, { since });
      const { traced, end } = this.traced(consumer, messages);
      try {
        await handler(traced);
      } catch (error) {
        this.runningBatches.set(consumer, { since, failedAt: performance.now() });
        failures.inc({ consumer });
        end('error');
        throw error;
      }
      this.runningBatches.set(consumer, undefined);
      countConsumed(messages.length);
      end();
    };
  }

  head(): Promise<string | undefined> {
    return this.inner.head();
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  private async timed<T>(subject: Subject, data: unknown, options: RequestOptions): Promise<Reply<T>> {
    try {
      return await this.inner.request<T>(subject, data, options);
    } catch (error) {
      if (error instanceof RequestFailed) this.metrics.counter('busFailures').inc({ reason: error.reason });
      throw error;
    }
  }

  /** A span for each message of a trace; it is the parent of the handler's spans, which find it in the headers. */
  private traced(consumer: string, messages: FeedMessage[]) {
    if (!this.tracing.on) return { traced: messages, end: () => undefined };
    const spans: { end(result?: { error?: string }): void }[] = [];
    const traced = messages.map((message) => {
      const parent = message.headers['traceparent'];
      if (!isSampled(parent)) return message;
      const span = this.tracing.start(`consume ${consumer}`, {
        kind: 'consumer',
        parent,
        attributes: { 'messaging.destination.name': message.subject, 'attestry.attempt': message.attempt },
      });
      spans.push(span);
      return { ...message, headers: { ...message.headers, traceparent: span.traceparent } };
    });
    return {
      traced,
      end: (error?: string) => {
        for (const span of spans) span.end(error === undefined ? {} : { error });
      },
    };
  }
}
