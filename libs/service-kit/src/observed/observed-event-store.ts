import {
  AppendTooLarge,
  EventStore,
  EventStoreUnavailable,
  WrongExpectedRevision,
  type AllPage,
  type AppendResult,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type Revision,
  type StreamName,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionHandler,
  type UnitOfWork,
} from '@attestry/event-store';
import type { Metrics } from '../metrics/metrics.js';
import { isSampled, type Tracing } from '../tracing/tracing.js';
import type { WrittenBytes } from '../written-bytes/written-bytes.js';

/** Separate in the metrics: a conflict is normal, the others are failures. */
const outcomeOf = (error: unknown): string => {
  if (error instanceof WrongExpectedRevision) return 'conflict';
  if (error instanceof AppendTooLarge) return 'too-large';
  return error instanceof EventStoreUnavailable ? 'unavailable' : 'error';
};

/** Any event store, the bytes of its tenants limited, its appends counted, timed and traced under the `traceparent` of what they append. */
export class ObservedEventStore extends EventStore {
  override readonly readStream: EventStore['readStream'];
  private readonly appends;
  private readonly events;
  private readonly seconds;

  /**
   * @param store which one, as a label: `domain` or `operations`
   * @param written limits on what tenants write
   */
  constructor(
    private readonly inner: EventStore,
    private readonly store: 'domain' | 'operations',
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
    private readonly written?: WrittenBytes,
  ) {
    super();
    this.readStream = inner.readStream.bind(inner);
    this.appends = metrics.bindCounter('appends', { store, outcome: 'ok' });
    this.events = metrics.bindCounter('appendedEvents', { store });
    this.seconds = metrics.bindHistogram('appendSeconds', { store });
  }

  append(stream: StreamName, events: readonly NewEvent[], expected: Revision): Promise<AppendResult> {
    return this.commit({ writes: [], appends: [{ stream, events, expected }] });
  }

  /** The span has the name of the last append, which decides. */
  override async commit(unit: UnitOfWork): Promise<AppendResult> {
    const { appends } = unit;
    const { store } = this;
    const written = this.written && (await this.written.admit(unit));
    const { stream, events } = appends.at(-1)!;
    const parent = events[0]?.metadata.traceparent;
    const span =
      this.tracing.on && isSampled(parent)
        ? this.tracing.start(`append ${stream.slice(0, stream.indexOf('-'))}`, {
            kind: 'client',
            parent,
            attributes: { 'attestry.store': store, 'attestry.events': events.length },
          })
        : undefined;
    const startedAt = performance.now();
    let outcome = 'ok';
    try {
      const result = await this.inner.commit(unit);
      for (const append of appends) this.events.since += append.events.length;
      return result;
    } catch (error) {
      outcome = outcomeOf(error);
      // Unless it may have been stored.
      if (written && outcome !== 'unavailable')
        this.written!.release(written, unit.appends.at(-1)!.events[0]!.metadata);
      throw error;
    } finally {
      this.seconds((performance.now() - startedAt) / 1000);
      if (outcome === 'ok') this.appends.since += appends.length;
      else this.metrics.counter('appends').inc({ store, outcome });
      span?.end(outcome === 'ok' ? {} : { error: outcome });
    }
  }

  override knownRevision(stream: StreamName): Revision | undefined {
    return this.inner.knownRevision(stream);
  }

  override noteUnused(stream: StreamName): void {
    this.inner.noteUnused(stream);
  }

  readAll(options: ReadAllOptions): Promise<AllPage> {
    return this.inner.readAll(options);
  }

  readTenant(tenantId: string, after: Position | undefined, limit: number): Promise<AllPage> {
    return this.inner.readTenant(tenantId, after, limit);
  }

  tenantStreams(tenantId: string, afterName: StreamName | undefined, limit: number): Promise<StreamName[]> {
    return this.inner.tenantStreams(tenantId, afterName, limit);
  }

  subscribe(options: SubscribeOptions, handler: SubscriptionHandler): Subscription {
    return this.inner.subscribe(options, {
      onEvents: handler.onEvents.bind(handler),
      onDropped: (error) => {
        this.metrics.counter('subscriptionDrops').inc({ store: this.store });
        handler.onDropped(error);
      },
    });
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
}
