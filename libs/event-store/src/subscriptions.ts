import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { UnknownEventType } from './aggregate.js';
import { refuseBeyondHead, RESET_CHECKPOINT } from './checkpoint-beyond-head.js';
import { EventStoreUnavailable } from './event-store.js';
import type { EventStore, Lease, Leases, Position, RecordedEvent, Subscription } from './event-store.js';

/** Where named consumers keep how far they came. */
export interface Checkpoints {
  read(name: string): Promise<Position | undefined>;
  /** Durable when it resolves. @throws StaleEpoch when a lease or a write of a newer epoch exists for the name */
  write(name: string, position: Position, epoch?: number): Promise<void>;
}

/** Checkpoints of one place, which can tell of all consumers. */
export interface ListedCheckpoints extends Checkpoints {
  list(): Promise<{ name: string; position: Position }[]>;
}

/** A newer holder of the lease has taken over: this one must stop. */
export class StaleEpoch extends Error {
  override readonly name = 'StaleEpoch';
  readonly code = 'StaleEpoch';
}

export interface SubscriptionHealth {
  name: string;
  /** False from a failure to the next success. Waiting for a lease or a newer release is healthy (ADR 0057). */
  healthy: boolean;
  /** Message of the last failure, until the next success. */
  error?: string;
  /** Position up to which everything is handled. */
  position?: Position;
  /** True once the position is reached that was the head when the lease was obtained, or while somebody else has it. */
  caughtUp: boolean;
}

export interface CheckpointedOptions {
  /** Permanent: names the checkpoint and the lease. */
  name: string;
  store: EventStore;
  leases: Leases;
  checkpoints: Checkpoints;
  categories?: readonly string[];
  batchSize?: number;
  /**
   * Handles one batch, in order, at least once. When it rejects, the batch comes again after a back-off.
   * What it writes elsewhere under the lease should be conditional on `lease.epoch`.
   */
  handle(events: RecordedEvent[], lease: Lease): Promise<void>;
  /** Told of every failure, for the log. */
  onError?: (error: Error, health: SubscriptionHealth) => void;
  /** Milliseconds. Default 6,000; renewed every third of it, and looked for every sixth by who waits for it. */
  leaseMs?: number;
  /** Milliseconds. Default 100, doubling to 5,000, with jitter; while the store is away 2,000 at most. */
  backOff?: { initialMs: number; maxMs: number };
  /** Milliseconds of rest after a batch that was not full, cut short by whoever waits for a position. Default 10. */
  restMs?: number;
}

/** Positions that a filter hid are written as a checkpoint only so often: losing them costs a little reading. */
const HIDDEN_WRITES = 256;
/** A store that is away comes back by itself, and asking it costs little. */
const MOST_AWAY_MS = 2000;

/**
 * A named consumer of the event store: runs under a lease, continues from its checkpoint, and whenever it is dropped
 * (its handler failed, the store dropped it, its lease was lost) begins again at the checkpoint after a back-off.
 * Nothing is skipped, and other subscriptions go on.
 */
export class CheckpointedSubscription {
  readonly health: SubscriptionHealth;
  private readonly holder = randomUUID();
  private readonly stopping = new AbortController();
  private readonly waiting = new Set<() => void>();
  private resting: (() => void) | undefined;
  private failures = 0;
  private running: Promise<void> | undefined;

  constructor(private readonly options: CheckpointedOptions) {
    this.health = { name: options.name, healthy: true, caughtUp: false };
  }

  start(): this {
    this.running ??= this.run();
    return this;
  }

  /** Stops, waits for the batch in hand, keeps its checkpoint and gives the lease back. */
  async close(): Promise<void> {
    this.stopping.abort();
    this.resting?.();
    await this.running;
    this.tell();
  }

  /** `true` once everything up to a position is handled, `false` after `timeoutMs` or when closed before. */
  async waitFor(position: Position | undefined, timeoutMs: number): Promise<boolean> {
    const reached = () =>
      position === undefined ||
      (this.health.position !== undefined && this.options.store.comparePositions(this.health.position, position) >= 0);
    if (reached()) return true;
    return new Promise<boolean>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(look);
        resolve(reached());
      };
      const look = () => {
        if (reached() || this.stopping.signal.aborted) done();
      };
      const timer = setTimeout(done, timeoutMs);
      this.waiting.add(look);
      this.resting?.();
      look();
    });
  }

  /** {@link waitFor} everything that is stored when it is called. */
  async waitForHead(timeoutMs: number): Promise<boolean> {
    return this.waitFor(await this.options.store.head(), timeoutMs);
  }

  private async run(): Promise<void> {
    const { name, leases, leaseMs = 6000 } = this.options;
    while (!this.stopping.signal.aborted) {
      let lease: Lease | undefined;
      let wait = leaseMs / 6;
      try {
        lease = await leases.acquire(name, this.holder, leaseMs);
        if (lease) {
          await this.follow(lease, leaseMs);
          wait = 0;
        } else {
          // Another process does the work; this one is as ready as it will be.
          this.succeeded();
          this.health.caughtUp = true;
        }
      } catch (error) {
        wait = this.failed(error instanceof Error ? error : new Error(String(error)));
      }
      // Released also before a back-off: a newer release may know the event type that this one does not (ADR 0057).
      if (lease) await this.release(lease);
      if (wait > 0) await this.sleep(wait);
    }
  }

  /** Resolves when the lease was lost or the subscription closes; rejects when it was dropped. */
  private async follow(lease: Lease, leaseMs: number): Promise<void> {
    const { name, store, leases, checkpoints, categories, batchSize, handle } = this.options;
    const { signal } = this.stopping;
    const after = await checkpoints.read(name);
    const target = await store.head();
    refuseBeyondHead(store, name, after, target, RESET_CHECKPOINT);
    let unsaved: Position | undefined;
    let hidden = 0;
    const reached = (position: Position | undefined) => {
      if (position !== undefined) this.health.position = position;
      if (target === undefined || (position !== undefined && store.comparePositions(position, target) >= 0))
        this.health.caughtUp = true;
      this.tell();
    };
    reached(after);
    if (after === target) this.succeeded();

    let subscription: Subscription | undefined;
    let renewal: NodeJS.Timeout | undefined;
    let stop: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        stop = resolve;
        signal.addEventListener('abort', stop);
        if (signal.aborted) return resolve();
        const renew = async () => {
          const renewed = await leases.renew(lease, leaseMs);
          if (!renewed) resolve();
        };
        renewal = setInterval(() => void renew().catch(reject), leaseMs / 3);
        subscription = store.subscribe(
          { after, categories, batchSize },
          {
            onEvents: async (events, next) => {
              if (events.length > 0) await handle(events, lease);
              if (events.length > 0 || ++hidden % HIDDEN_WRITES === 0) {
                await checkpoints.write(name, next, lease.epoch);
                unsaved = undefined;
              } else unsaved = next;
              this.succeeded();
              reached(next);
              if (events.length > 0 && events.length < (batchSize ?? 256)) await this.rest();
            },
            onDropped: reject,
          },
        );
      });
    } finally {
      clearInterval(renewal);
      if (stop) signal.removeEventListener('abort', stop);
      await subscription?.close();
    }
    if (unsaved !== undefined && (await leases.isHeld(lease))) await checkpoints.write(name, unsaved, lease.epoch);
  }

  private async release(lease: Lease): Promise<void> {
    try {
      await this.options.leases.release(lease);
    } catch (error) {
      this.failed(error as Error);
    }
  }

  private succeeded(): void {
    this.failures = 0;
    this.health.healthy = true;
    delete this.health.error;
  }

  /** Answers the milliseconds to wait. */
  private failed(error: Error): number {
    const { backOff = { initialMs: 100, maxMs: 5000 }, onError } = this.options;
    this.health.healthy = error instanceof UnknownEventType || error instanceof StaleEpoch;
    this.health.error = error.message;
    onError?.(error, { ...this.health });
    const most = error instanceof EventStoreUnavailable ? Math.min(backOff.maxMs, MOST_AWAY_MS) : backOff.maxMs;
    const delay = Math.min(backOff.initialMs * 2 ** this.failures++, most);
    return delay * (0.75 + Math.random() / 4);
  }

  private async sleep(ms: number): Promise<void> {
    const { signal } = this.stopping;
    try {
      await pause(ms, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** A batch and its checkpoint cost the same for one event as for many, so a few are let to come together. */
  private async rest(): Promise<void> {
    const { restMs = 10 } = this.options;
    if (restMs === 0 || this.waiting.size > 0 || this.stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.resting = undefined;
        resolve();
      };
      const timer = setTimeout(done, restMs);
      this.resting = done;
    });
  }

  private tell(): void {
    for (const look of [...this.waiting]) look();
  }
}
