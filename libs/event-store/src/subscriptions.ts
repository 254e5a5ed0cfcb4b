import { randomUUID } from 'node:crypto';
import { refuseBeyondHead, RESET_CHECKPOINT } from './checkpoint-beyond-head.js';
import type { EventLog, Lease, Leases, Position, RecordedEvent } from './event-store.js';
import type { BackOff } from './worker/back-off.js';
import { EventBatches, type EventBatch } from './worker/event-batches.js';
import { LeasedWorker, type BatchSource, type Term, type WorkerHealth } from './worker/leased-worker.js';

/** Positions of named consumers. */
export interface Checkpoints {
  read(name: string): Promise<Position | undefined>;
  /** Durable when it resolves. @throws StaleEpoch when a lease or a write of a newer epoch exists for the name */
  write(name: string, position: Position, epoch?: number): Promise<void>;
}

/** Checkpoints of one store, which can list all consumers. */
export interface ListedCheckpoints extends Checkpoints {
  list(): Promise<{ name: string; position: Position }[]>;
}

export interface SubscriptionHealth extends WorkerHealth {
  /** Position up to which everything is handled. */
  position?: Position;
  /** True once the position is reached that was the head when the lease was obtained, or while another process holds it. */
  caughtUp: boolean;
}

export interface CheckpointedOptions {
  /** Permanent: names the checkpoint and the lease. */
  name: string;
  store: EventLog;
  leases: Leases;
  checkpoints: Checkpoints;
  categories?: readonly string[];
  batchSize?: number;
  /**
   * Handles one batch, in order, at least once: its effects have a key, by which those of a redelivered batch are discarded. When it
   * rejects, the batch is redelivered after a back-off. Its other writes under the lease should be conditional on `lease.epoch`.
   */
  handle(events: RecordedEvent[], lease: Lease): Promise<void>;
  /** Called with every failure, for the log. */
  onError?: (error: Error, health: SubscriptionHealth) => void;
  /** Milliseconds. Default 6,000. */
  leaseMs?: number;
  backOff?: BackOff;
  /** Pause after a batch that was not full, milliseconds; cut short when a caller waits for a position. Default 10. */
  restMs?: number;
}

/** Least time between two checkpoints, milliseconds: after a crash at most the events of this time are handled again (ADR 0069). */
const CHECKPOINT_MS = 1000;
/** The same where the filter hid all events since the last checkpoint: losing it costs little reading. */
const HIDDEN_CHECKPOINT_MS = 5000;

/**
 * A named consumer of the event store: a worker that continues from its checkpoint. Whenever a term ends (its handler failed, the
 * store dropped it, its lease was lost) the next one begins at the checkpoint. Nothing is skipped, and other subscriptions continue.
 */
export class CheckpointedSubscription {
  private readonly worker: LeasedWorker<EventBatch>;
  private readonly waiting = new Set<() => void>();
  private position: Position | undefined;
  private caughtUp = false;
  /** The head when the term began. */
  private target: Position | undefined;
  /** Reached, but not yet stored as a checkpoint. */
  private unsaved: Position | undefined;
  /** When the next checkpoint is due, on the monotonic clock. */
  private dueAt = 0;
  private savedAt = -Infinity;

  constructor(private readonly options: CheckpointedOptions) {
    const { name, leases, leaseMs, backOff, onError } = options;
    this.worker = new LeasedWorker<EventBatch>({
      name,
      lease: { leases, holder: randomUUID(), leaseMs },
      backOff,
      openSource: (term) => this.openSource(term),
      batch: (batch, term) => this.batch(batch, term),
      standBy: () => void (this.caughtUp = true),
      onError: (error) => onError?.(error, this.health),
    });
  }

  get health(): SubscriptionHealth {
    const { position, caughtUp } = this;
    return { ...this.worker.health, ...(position !== undefined && { position }), caughtUp };
  }

  start(): this {
    this.worker.start();
    return this;
  }

  /** Stops, waits for the current batch, stores its checkpoint and releases the lease. */
  async close(): Promise<void> {
    await this.worker.stop();
    this.notify();
  }

  /** `true` once everything up to a position is handled, `false` after `timeoutMs` or when closed before. */
  async waitFor(position: Position | undefined, timeoutMs: number): Promise<boolean> {
    const reached = () => position === undefined || this.covers(position);
    if (reached()) return true;
    return new Promise<boolean>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(resolveIfDone);
        resolve(reached());
      };
      const resolveIfDone = () => {
        if (reached() || this.worker.isStopped) done();
      };
      const timer = setTimeout(done, timeoutMs);
      this.waiting.add(resolveIfDone);
      this.worker.wake();
      resolveIfDone();
    });
  }

  /** {@link waitFor} everything that is stored at the time of the call. */
  async waitForHead(timeoutMs: number): Promise<boolean> {
    return this.waitFor(await this.options.store.head(), timeoutMs);
  }

  private async openSource(term: Term): Promise<BatchSource<EventBatch>> {
    const { name, store, checkpoints, categories, batchSize } = this.options;
    const after = await checkpoints.read(name);
    this.target = await store.head();
    refuseBeyondHead(store, name, after, this.target, RESET_CHECKPOINT);
    this.unsaved = undefined;
    this.recordPosition(after);
    if (after === this.target) this.worker.recordSuccess();
    const source = new EventBatches(store, { after, categories, batchSize }, term.signal);
    const next = () =>
      source.next(this.unsaved === undefined ? undefined : Math.max(0, this.dueAt - performance.now()));
    const close = async () => {
      await source.close();
      if (term.isHeld) await this.save(term);
    };
    return { next, close };
  }

  /** @returns milliseconds of pause: a batch and its checkpoint cost the same for one event as for many (ADR 0111) */
  private async batch({ events, next }: EventBatch, term: Term): Promise<number> {
    const { batchSize = 256, handle, restMs = 10 } = this.options;
    if (events.length > 0) await handle(events, term.lease!);
    if (this.unsaved === undefined) this.dueAt = this.savedAt + HIDDEN_CHECKPOINT_MS;
    if (events.length > 0) this.dueAt = this.savedAt + CHECKPOINT_MS;
    this.unsaved = next;
    if (performance.now() >= this.dueAt) await this.save(term);
    this.worker.recordSuccess();
    this.recordPosition(next);
    return events.length > 0 && events.length < batchSize && this.waiting.size === 0 ? restMs : 0;
  }

  private async save({ epoch }: Term): Promise<void> {
    const { name, checkpoints } = this.options;
    if (this.unsaved === undefined) return;
    await checkpoints.write(name, this.unsaved, epoch);
    this.unsaved = undefined;
    this.savedAt = performance.now();
  }

  private recordPosition(position: Position | undefined): void {
    if (position !== undefined) this.position = position;
    if (this.target === undefined || (position !== undefined && this.covers(this.target))) this.caughtUp = true;
    this.notify();
  }

  private covers(position: Position): boolean {
    return this.position !== undefined && this.options.store.comparePositions(this.position, position) >= 0;
  }

  private notify(): void {
    for (const check of [...this.waiting]) check();
  }
}
