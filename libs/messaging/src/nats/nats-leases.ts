import { Leases, type Lease } from '@attestry/event-store';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import type { KV, KvEntry } from '@nats-io/kv';

/** The value of a lease that no process holds. */
const FREE = '';

/** A lease granted to this process. */
interface Granted {
  lease: Lease;
  /** Revision of its last renewal. */
  revision: number;
  /** When it expires, by `performance.now()`. */
  until: number;
}

/**
 * Leases in a key-value bucket: a key's value is its holder, changed only at its known revision. No clocks are compared: a contender takes
 * over when it has itself seen no renewal for the whole time to live, and a holder counts from before its last renewal. The revision of the
 * take-over is the epoch, which grows.
 */
export class NatsLeases extends Leases {
  /** Revisions as last seen, and since when. */
  private readonly seen = new Map<string, { revision: number; since: number }>();
  private readonly granted = new Map<string, Granted>();

  constructor(
    private readonly bucket: () => Promise<KV>,
    private readonly keyOf: (name: string) => string,
  ) {
    super();
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    const ours = this.granted.get(`${name} ${holder}`);
    const renewed = ours && (await this.renew(ours.lease, ttlMs));
    if (renewed) return renewed;
    const requestedAt = performance.now();
    const bucket = await this.bucket();
    const entry = await bucket.get(this.keyOf(name));
    if (entry && !this.isFree(name, entry, holder)) return undefined;
    const value = `${holder} ${ttlMs}`;
    const key = this.keyOf(name);
    const epoch = await changed(entry ? bucket.update(key, value, entry.revision) : bucket.create(key, value));
    return epoch === undefined
      ? undefined
      : this.grant({ name, holder, epoch, expiresAt: 0 }, epoch, requestedAt, ttlMs);
  }

  async renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    const { name, holder } = lease;
    const known = this.currentGrant(lease);
    if (!known) return undefined;
    const requestedAt = performance.now();
    const bucket = await this.bucket();
    const update = bucket.update(this.keyOf(name), `${holder} ${ttlMs}`, known.revision, Math.max(ttlMs / 4, 250));
    const revision = await changed(update);
    if (revision !== undefined) return this.grant(lease, revision, requestedAt, ttlMs);
    this.granted.delete(`${name} ${holder}`);
    return undefined;
  }

  async release(lease: Lease): Promise<void> {
    const known = this.currentGrant(lease);
    this.granted.delete(`${lease.name} ${lease.holder}`);
    if (known) await changed((await this.bucket()).update(this.keyOf(lease.name), FREE, known.revision));
  }

  async isHeld(lease: Lease): Promise<boolean> {
    const entry = await (await this.bucket()).get(this.keyOf(lease.name));
    return entry !== null && this.currentGrant(lease)?.revision === entry.revision;
  }

  private isFree(name: string, entry: KvEntry, holder: string): boolean {
    const now = performance.now();
    const seen = this.seen.get(name);
    const since = seen?.revision === entry.revision ? seen.since : now;
    this.seen.set(name, { revision: entry.revision, since });
    const [by, ofHolder] = entry.string().split(' ');
    // Its own: lost while it could not be renewed, and no other process took it.
    return by === FREE || by === holder || now - since >= Number(ofHolder);
  }

  /** `undefined` when it was lost or has expired. */
  private currentGrant({ name, holder, epoch }: Lease): Granted | undefined {
    const known = this.granted.get(`${name} ${holder}`);
    return known?.lease.epoch === epoch && performance.now() < known.until ? known : undefined;
  }

  private grant(lease: Lease, revision: number, requestedAt: number, ttlMs: number): Lease {
    const granted = { ...lease, expiresAt: Date.now() + ttlMs };
    this.granted.set(`${lease.name} ${lease.holder}`, { lease: granted, revision, until: requestedAt + ttlMs });
    return granted;
  }
}

/** The new revision; `undefined` when another process changed the key. */
const changed = async (update: Promise<number>): Promise<number | undefined> => {
  try {
    return await update;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence)
      return undefined;
    throw error;
  }
};
