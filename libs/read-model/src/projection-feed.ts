import type { Kysely, Transaction } from 'kysely';
import {
  EventBatches,
  LeasedWorker,
  REBUILD_READ_MODEL,
  refuseBeyondHead,
  StaleEpoch,
  UnknownEventType,
} from '@attestry/event-store';
import type {
  BackOff,
  BatchSource,
  EventBatch,
  EventLog,
  Position,
  RecordedEvent,
  Term,
  WorkerHealth,
} from '@attestry/event-store';
import type { Generation, ProjectionRegistry, RegistryTables } from './projection-registry.js';
import type { Projection } from './read-model.js';
import { TableNames, tableSuffix } from './table-names.js';

export interface FeedOptions<Tables> {
  db: Kysely<RegistryTables>;
  registry: ProjectionRegistry;
  eventStore: EventLog;
  projection: Projection<Tables>;
  /** Term of the projection's worker. */
  term: Term;
  batchSize: number;
  backOff?: BackOff;
  random?: () => number;
  /** Milliseconds of pause after a batch that was not full; 0 while a caller waits for a position. */
  restMs: () => number;
  /** Before the first batch, and before it continues after a failure: from its position. */
  onStart: (feed: ProjectionFeed<Tables>) => void;
  /** After each stored batch; the next one follows when it resolves. `full`: more events are waiting. */
  onProgress: (feed: ProjectionFeed<Tables>, full: boolean) => Promise<void>;
  /** Failures after which the feed retries. */
  onFailure: (feed: ProjectionFeed<Tables>, error: Error) => void;
  /** The feed ended: its tables were retired (no error), or writes are refused. */
  onEnd: (feed: ProjectionFeed<Tables>, error?: StaleEpoch | UnknownEventType) => void;
}

/** Commit an empty range only at intervals. */
const IDLE_CHECKPOINT_MS = 5000;
/** Fills one generation of tables from the event store, from its checkpoint on, until it is closed or fenced. */
export class ProjectionFeed<Tables> {
  /** All events up to here are in the tables. */
  position: Position | undefined;
  /** Position at which tables that are filled beside others may replace them. */
  target: Position | undefined;
  private stored: Position | undefined;
  private storedAt = 0;
  private readonly worker: LeasedWorker<EventBatch>;
  private readonly names: TableNames;
  /** Absent: raw. */
  private readonly types: ReadonlySet<string> | undefined;

  constructor(
    readonly generation: Generation,
    private readonly o: FeedOptions<Tables>,
  ) {
    this.position = this.stored = generation.position;
    this.names = new TableNames(o.projection.tables, tableSuffix(generation.version, generation.generation));
    this.types = o.projection.types && new Set(o.projection.types);
    this.worker = new LeasedWorker<EventBatch>({
      name: o.projection.name,
      within: o.term,
      backOff: o.backOff,
      random: o.random,
      openSource: (term) => this.openSource(term),
      batch: ({ events, next }) => this.batch(events, next),
      onError: (error) => this.failed(error),
    });
  }

  get health(): WorkerHealth {
    return this.worker.health;
  }

  start(): void {
    this.worker.start();
  }

  /** Cuts a pause short. */
  wake(): void {
    this.worker.wake();
  }

  /** Stops delivery and waits for the current batch. */
  close(): Promise<void> {
    return this.worker.stop();
  }

  private async openSource({ signal }: Term): Promise<BatchSource<EventBatch>> {
    const { registry, eventStore, projection, batchSize } = this.o;
    const checkpoint = await registry.checkpoint(this.generation);
    if (!checkpoint) throw new StaleEpoch(`the tables of ${projection.name} are retired`);
    this.position = this.stored = checkpoint.position;
    this.o.onStart(this);
    const head = await eventStore.head();
    refuseBeyondHead(eventStore, projection.name, this.position, head, REBUILD_READ_MODEL);
    this.target ??= head;
    if (await this.covers(head)) {
      this.worker.recordSuccess();
      await this.o.onProgress(this, false);
    }
    return new EventBatches(eventStore, { after: this.position, categories: projection.categories, batchSize }, signal);
  }

  private failed(error: Error): void {
    if (!(error instanceof UnknownEventType || error instanceof StaleEpoch)) return this.o.onFailure(this, error);
    this.worker.requestStop();
    void this.ended(error);
  }

  /** Retired tables refuse a batch too, but the lease is still held. */
  private async ended(error: StaleEpoch | UnknownEventType): Promise<void> {
    const isRetired = async () => (await this.o.registry.checkpoint(this.generation)) === undefined;
    const isFault = error instanceof UnknownEventType || !(await isRetired().catch(() => false));
    this.o.onEnd(this, isFault ? error : undefined);
  }

  private async batch(events: readonly RecordedEvent[], next: Position): Promise<number> {
    const { types } = this;
    const stop = types ? events.findIndex((event) => !types.has(event.type)) : -1;
    const known = stop < 0 ? events : events.slice(0, stop);
    const to = stop < 0 ? next : known.at(-1)?.position;
    if (to !== undefined) await this.write(known, to);
    // A newer release wrote it: wait for that release, never skip (ADR 0057: an unknown event stops the consumer).
    if (stop >= 0) throw new UnknownEventType(events[stop]!);
    this.worker.recordSuccess();
    const full = events.length >= this.o.batchSize;
    await this.o.onProgress(this, full);
    // A batch costs the same for one event as for a hundred, so a few are batched (ADR 0111).
    return events.length && !full ? this.o.restMs() : 0;
  }

  private async write(events: readonly RecordedEvent[], to: Position): Promise<void> {
    if (events.length || performance.now() - this.storedAt > IDLE_CHECKPOINT_MS) {
      await this.o.db.transaction().execute(async (trx) => {
        // The checkpoint first: a former holder is refused before it changes a row, and waits where rows are locked.
        await this.o.registry.advance(trx, this.generation, this.o.term.epoch, this.stored, to);
        if (events.length) {
          await this.o.projection.project(trx.withPlugin(this.names) as unknown as Transaction<Tables>, events, to);
        }
      });
      this.stored = to;
      this.storedAt = performance.now();
    }
    this.position = to;
  }

  /** Whether all events of the projection's categories up to `target` are stored, even if the last ones up to there are of others. */
  covers(target: Position | undefined): Promise<boolean> {
    return covers(this.o.eventStore, this.position, target, this.o.projection.categories);
  }
}

export const covers = async (
  eventStore: EventLog,
  position: Position | undefined,
  target: Position | undefined,
  categories: readonly string[] | undefined,
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
