import { setTimeout as pause } from 'node:timers/promises';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';

/** The value of a lease that nobody holds. */
const FREE = '';

export interface NatsLeaseOptions {
  key: string;
  /** Unique per holder. */
  holder: string;
  ttlMs: number;
  /** Told once when the lease is lost or can no longer be renewed in time. */
  onLost: (error: Error) => void;
  /** Told at every look that finds another holder. */
  onHeldByOther?: () => void;
  signal: AbortSignal;
}

/**
 * A lease: a key whose value is its holder, changed only at its known revision. Nobody compares clocks: a contender takes
 * over when it has itself seen no renewal for the whole time to live, and a holder gives up earlier than that. The
 * revision of the take-over is the epoch, which grows.
 */
export class NatsLease {
  private timer: NodeJS.Timeout | undefined;
  private renewing: Promise<void> | undefined;
  private lastRenewal = performance.now();
  private ended = false;

  private constructor(
    private readonly bucket: KV,
    private revision: number,
    readonly epoch: number,
    private readonly options: NatsLeaseOptions,
  ) {
    this.renewLater();
  }

  /** Waits until the lease is free. @throws the signal's reason */
  static async acquire(bucket: KV, options: NatsLeaseOptions): Promise<NatsLease> {
    const { key, holder, ttlMs, signal } = options;
    let seen = { revision: -1, at: 0 };
    for (;;) {
      signal.throwIfAborted();
      const entry = await bucket.get(key);
      const now = performance.now();
      const revision = entry?.revision ?? 0;
      if (revision !== seen.revision) seen = { revision, at: now };
      // Its own: lost while it could not be renewed, and nobody else took it.
      if (!entry || [FREE, holder].includes(entry.string()) || now - seen.at >= ttlMs) {
        const taken = await changed(entry ? bucket.update(key, holder, revision) : bucket.create(key, holder));
        if (taken !== undefined) return new NatsLease(bucket, taken, taken, options);
      }
      options.onHeldByOther?.();
      await pause(Math.min(250, ttlMs / 8), undefined, { signal });
    }
  }

  /** Gives the lease back, so that the next holder need not wait. */
  async release(): Promise<void> {
    this.end();
    // A renewal under way decides which revision is the last.
    await this.renewing;
    await changed(this.bucket.update(this.options.key, FREE, this.revision));
  }

  private end(): void {
    this.ended = true;
    clearTimeout(this.timer);
  }

  private renewLater(): void {
    this.timer = setTimeout(() => (this.renewing = this.renew()), this.options.ttlMs / 4);
  }

  private async renew(): Promise<void> {
    const { key, holder, ttlMs, onLost } = this.options;
    const begun = performance.now();
    let failure: unknown;
    try {
      const revision = await changed(this.bucket.update(key, holder, this.revision, ttlMs / 4));
      if (revision !== undefined) this.revision = revision;
      if (this.ended) return;
      if (revision === undefined) {
        this.end();
        return onLost(new Error(`${key} is held by another process`));
      }
      this.lastRenewal = begun;
    } catch (error) {
      failure = error;
    }
    if (this.ended) return;
    if (performance.now() - this.lastRenewal > ttlMs / 2) {
      this.end();
      return onLost(new Error(`the lease ${key} could not be renewed`, { cause: failure }));
    }
    this.renewLater();
  }
}

/** The new revision; `undefined` when somebody else changed the key. */
const changed = async (update: Promise<number>): Promise<number | undefined> => {
  try {
    return await update;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence)
      return undefined;
    throw error;
  }
};
