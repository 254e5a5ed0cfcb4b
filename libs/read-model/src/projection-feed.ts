import type { Kysely, Transaction } from 'kysely';
import { EventStoreUnavailable, REBUILD_READ_MODEL, refuseBeyondHead, UnknownEventType } from '@attestry/event-store';
import type { EventStore, Position, RecordedEvent, Subscription } from '@attestry/event-store';
import type { Pause } from './pause.js';
import { Fenced } from './projection-registry.js';
import type { Generation, ProjectionRegistry, RegistryTables } from './projection-registry.js';
import type { Projection } from './read-model.js';
import { TableNames, tableSuffix } from './table-names.js';

export interface FeedOptions<Tables> {
  db: Kysely<RegistryTables>;
  registry: ProjectionRegistry;
  eventStore: EventStore;
  projection: Projection<Tables>;
  epoch: number;
  batchSize: number;
  backoff: (failures: number) => number;
  pause: Pause;
  /** Cut short by whoever waits for a position. */
  rest: Pause;
  /** Milliseconds of rest after a batch that was not full; 0 while somebody waits. */
  restMs: () => number;
  /** Before the first batch, and before it goes on after a failure: from its position on. */
  onStart: (feed: ProjectionFeed<Tables>) => void;
  /** After each batch that was stored; the next one follows when it resolves. `full`: more is waiting. */
  onProgress: (feed: ProjectionFeed<Tables>, full: boolean) => Promise<void>;
  /** Failures after which the feed goes on by itself. */
  onFailure: (feed: ProjectionFeed<Tables>, error: Error) => void;
  /** The feed ended: its tables were retired (no error), or nothing may be written any more. */
  onEnd: (feed: ProjectionFeed<Tables>, error?: Fenced | UnknownEventType) => void;
}

/** An empty range is worth a commit only now and then. */
const IDLE_CHECKPOINT_MS = 5000;
/** A store that is away comes back by itself, and asking it costs little. */
const MOST_AWAY_MS = 2000;

/** Fills one generation of tables from the event store, from its checkpoint on, until it is closed or fenced. */
export class ProjectionFeed<Tables> {
  /** All events up to here are in the tables. */
  position: Position | undefined;
  error: string | undefined;
  /** Position at which tables that are filled beside others may take over. */
  target: Position | undefined;
  private stored: Position | undefined;
  private storedAt = 0;
  private closed = false;
  private failure: Error | undefined;
  private subscription: Subscription | undefined;
  private detach: (() => void) | undefined;
  private running: Promise<void> | undefined;
  private readonly names: TableNames;
  private readonly types: ReadonlySet<string>;

  constructor(
    readonly generation: Generation,
    private readonly o: FeedOptions<Tables>,
  ) {
    this.position = this.stored = generation.position;
    this.names = new TableNames(o.projection.tables, tableSuffix(generation.version, generation.generation));
    this.types = new Set(o.projection.types);
  }

  start(): void {
    this.running = this.run();
  }

  /** Stops delivery and waits for a batch being written. */
  async close(): Promise<void> {
    this.closed = true;
    this.o.pause.wake();
    this.o.rest.wake();
    await this.subscription?.close();
    this.detach?.();
    await this.running;
  }

  private async run(): Promise<void> {
    for (let failures = 0; !this.closed;) {
      const before = this.position;
      try {
        this.failure = undefined;
        const checkpoint = await this.o.registry.checkpoint(this.generation);
        if (!checkpoint) return this.o.onEnd(this);
        this.position = this.stored = checkpoint.position;
        this.o.onStart(this);
        const head = await this.o.eventStore.head();
        refuseBeyondHead(this.o.eventStore, this.o.projection.name, this.position, head, REBUILD_READ_MODEL);
        this.target ??= head;
        if (await this.covers(head)) {
          this.error = undefined;
          await this.o.onProgress(this, false);
        }
        if (!this.closed) await this.subscribed();
      } catch (error) {
        const cause = this.failure ?? (error instanceof Error ? error : new Error(String(error)));
        if (cause instanceof UnknownEventType) return this.o.onEnd(this, cause);
        if (cause instanceof Fenced) return this.o.onEnd(this, await this.fencedOrRetired(cause));
        if (this.closed) return;
        failures = this.position === before ? failures + 1 : 1;
        this.error = cause.message;
        this.o.onFailure(this, cause);
        const wait = this.o.backoff(failures);
        await this.o.pause.for(cause instanceof EventStoreUnavailable ? Math.min(wait, MOST_AWAY_MS) : wait);
      }
    }
  }

  /** Tables that were switched away from refuse a batch too, but the lease is still ours. */
  private async fencedOrRetired(error: Fenced): Promise<Fenced | undefined> {
    try {
      return (await this.o.registry.checkpoint(this.generation)) ? error : undefined;
    } catch (cause) {
      return new Fenced(error.message, { cause });
    }
  }

  /** Resolves when closed, rejects when the subscription was dropped. */
  private subscribed(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.detach = resolve;
      this.subscription = this.o.eventStore.subscribe(
        { after: this.position, categories: this.o.projection.categories, batchSize: this.o.batchSize },
        {
          onEvents: async (events, next) => {
            try {
              await this.batch(events, next);
            } catch (error) {
              this.failure = error instanceof Error ? error : new Error(String(error));
              throw error;
            }
          },
          onDropped: reject,
        },
      );
    });
  }

  private async batch(events: readonly RecordedEvent[], next: Position): Promise<void> {
    const stop = events.findIndex((event) => !this.types.has(event.type));
    const known = stop < 0 ? events : events.slice(0, stop);
    const to = stop < 0 ? next : known.at(-1)?.position;
    if (to !== undefined) await this.write(known, to);
    // A newer release wrote it: wait for that release, never skip (ADR 0057).
    if (stop >= 0) throw new UnknownEventType(events[stop]!);
    this.error = undefined;
    const full = events.length >= this.o.batchSize;
    await this.o.onProgress(this, full);
    // A batch costs the same for one event as for a hundred, so a few are let to come together (ADR 0013).
    if (events.length && !full && !this.closed) {
      const ms = this.o.restMs();
      if (ms) await this.o.rest.for(ms);
    }
  }

  private async write(events: readonly RecordedEvent[], to: Position): Promise<void> {
    if (events.length || performance.now() - this.storedAt > IDLE_CHECKPOINT_MS) {
      await this.o.db.transaction().execute(async (trx) => {
        // The checkpoint first: a former holder is turned away before it touches a row, and waits where rows are locked.
        await this.o.registry.advance(trx, this.generation, this.o.epoch, this.stored, to);
        if (events.length) {
          await this.o.projection.project(trx.withPlugin(this.names) as unknown as Transaction<Tables>, events);
        }
      });
      this.stored = to;
      this.storedAt = performance.now();
    }
    this.position = to;
  }

  /** Whether no event of our categories up to `target` is missing, even if the last ones up to there are of others. */
  covers(target: Position | undefined): Promise<boolean> {
    return covers(this.o.eventStore, this.position, target, this.o.projection.categories);
  }
}

export const covers = async (
  eventStore: EventStore,
  position: Position | undefined,
  target: Position | undefined,
  categories: readonly string[],
): Promise<boolean> => {
  if (target === undefined) return true;
  for (let after = position; ;) {
    if (after !== undefined && eventStore.comparePositions(after, target) >= 0) return true;
    const page = await eventStore.readAll({ after, categories, limit: 1 });
    if (page.events.length) return eventStore.comparePositions(page.events[0]!.position, target) > 0;
    if (page.atEnd || page.next === undefined) {
      return page.next !== undefined && eventStore.comparePositions(page.next, target) >= 0;
    }
    after = page.next;
  }
};
