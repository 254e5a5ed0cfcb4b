import type { Loaded } from '@attestry/event-store';
import type { CancelReason } from '../webhook-delivery/webhook-delivery.events.js';
import type { WebhookDeliveryState } from '../webhook-delivery/webhook-delivery.state.js';
import { Allowances } from './allowances.js';

/** A delivery that waits for a slot, or will once it is stored. */
export interface QueuedDelivery {
  tenantId: string;
  deliveryKey: string;
  /** Empty when the webhook is deleted: nothing will be sent. */
  host: string;
}

/** A stream after it was read or appended, and its position. */
export type Stored = Loaded<WebhookDeliveryState> & { position?: string };

export interface DueDelivery extends QueuedDelivery {
  webhookId: string;
  requestId: string;
  cancel: CancelReason | null;
  /** State that this process just stored, which saves a read of the stream. It may be stale. */
  loaded?: Stored;
  /** The attempt that is sent now, when `loaded` records it. */
  deliveryId?: string;
}

/** Attempts in flight, see Allowances. A slow host or tenant fills its own share, and a lane with none in flight goes first. */
export const LIMITS = { all: 256, tenant: { least: 8, most: 128 }, host: { least: 4, most: 128 } } as const;
/** Deliveries in memory for a host, as a multiple of its concurrency. */
const AHEAD = 8;
/** Deliveries in memory in total, except for the first of each host and tenant. */
const MAX_QUEUED = 4096;
/** Part of a host's and tenant's room that is still filled when more are read. */
const LOW = 0.25;

/** Deliveries to one host on behalf of one tenant, oldest first. */
interface Lane<T> {
  tenantId: string;
  host: string;
  waiting: T[];
}

type Busy = Map<string, number>;

const laneOf = ({ tenantId, host }: Omit<QueuedDelivery, 'deliveryKey'>): string => `${tenantId} ${host}`;
const more = (busy: Busy, name: string, by: 1 | -1): void => {
  const count = (busy.get(name) ?? 0) + by;
  if (count) busy.set(name, count);
  else busy.delete(name);
};

/**
 * Deliveries that wait in memory for a free slot, and the slots in use. It holds copies of rows that the queue's table has or will have:
 * what finds no room here, or is lost with the process, is found there.
 */
export class DeliveryQueue<T extends QueuedDelivery> {
  private readonly lanes = new Map<string, Lane<T>>();
  private readonly known = new Set<string>();
  /** Lanes that were offered more than they had room for. */
  private readonly refused = new Set<string>();
  private readonly hosts: Busy = new Map();
  private readonly tenants: Busy = new Map();
  private readonly allowances = { host: new Allowances(LIMITS.host), tenant: new Allowances(LIMITS.tenant) };
  private underWay = 0;
  private waiting = 0;

  get taken(): number {
    return this.underWay;
  }

  /** It waits here or is in flight. */
  has(deliveryKey: string): boolean {
    return this.known.has(deliveryKey);
  }

  /** The host answered quickly recently. */
  isQuick(host: string): boolean {
    return this.allowances.host.limitOf(host) > LIMITS.host.least;
  }

  /** Whether it waits here now, newly or already. */
  add(due: T): boolean {
    if (this.known.has(due.deliveryKey)) return true;
    const name = laneOf(due);
    const lane = this.lanes.get(name);
    if (lane && (this.waiting >= MAX_QUEUED || this.isFull(lane))) {
      this.refused.add(name);
      return false;
    }
    if (lane) lane.waiting.push(due);
    else this.lanes.set(name, { tenantId: due.tenantId, host: due.host, waiting: [due] });
    this.known.add(due.deliveryKey);
    this.waiting += 1;
    return true;
  }

  /** The next to send, in flight from then on; undefined when no lane may have more. */
  takeNext(): T | undefined {
    if (this.underWay >= LIMITS.all) return undefined;
    let allowed: [string, Lane<T>] | undefined;
    for (const entry of this.lanes) {
      const [, { host, tenantId }] = entry;
      // A host that never responds must not use every free slot.
      if (!this.hosts.has(host) && !this.tenants.has(tenantId)) return this.start(...entry);
      if (!allowed && this.mayHaveMore(entry[1])) allowed = entry;
    }
    return allowed && this.start(...allowed);
  }

  /** Frees its slot. @param quick outcome of the attempt; absent when there was none */
  freeSlot({ deliveryKey, host, tenantId }: QueuedDelivery, quick?: boolean): void {
    this.known.delete(deliveryKey);
    this.underWay -= 1;
    if (host) more(this.hosts, host, -1);
    more(this.tenants, tenantId, -1);
    if (quick === undefined) return;
    this.allowances.host.adjust(host, quick);
    this.allowances.tenant.adjust(tenantId, quick);
  }

  /** It no longer waits. */
  withdraw(due: T): void {
    const lane = this.lanes.get(laneOf(due));
    const at = lane ? lane.waiting.indexOf(due) : -1;
    if (!lane || at < 0) return;
    lane.waiting.splice(at, 1);
    if (!lane.waiting.length) this.lanes.delete(laneOf(due));
    this.known.delete(due.deliveryKey);
    this.waiting -= 1;
  }

  /** Drops everything that waits, and returns it. */
  clear(): T[] {
    const all = [...this.lanes.values()].flatMap(({ waiting }) => waiting);
    for (const { deliveryKey } of all) this.known.delete(deliveryKey);
    this.lanes.clear();
    this.waiting = 0;
    return all;
  }

  /** More was offered for this host and tenant than there was room for, and now there is room. */
  wantsMore(of: Omit<QueuedDelivery, 'deliveryKey'>): boolean {
    const name = laneOf(of);
    if (!this.refused.has(name)) return false;
    const lane = this.lanes.get(name);
    return !lane || lane.waiting.length <= LOW * this.capacity(lane);
  }

  /** Lanes with waiting deliveries or attempts in flight. */
  present(): { hosts: Set<string>; tenants: Set<string> } {
    const lanes = [...this.lanes.values()];
    return {
      hosts: new Set([...this.hosts.keys(), ...lanes.flatMap(({ host }) => host || [])]),
      tenants: new Set([...this.tenants.keys(), ...lanes.map(({ tenantId }) => tenantId)]),
    };
  }

  /** For the next query: lanes that need no more, and for all others how many deliveries wait or are in flight. */
  full(): { lanes: { tenantId: string; host: string }[]; others: number } {
    const full = [...this.lanes].filter(([, lane]) => this.isFull(lane));
    // The queue may have more of them.
    this.refused.clear();
    for (const [name] of full) this.refused.add(name);
    const lanes = full.map(([, lane]) => lane);
    return { lanes, others: this.underWay + this.waiting - lanes.reduce((sum, lane) => sum + lane.waiting.length, 0) };
  }

  private start(name: string, lane: Lane<T>): T {
    const due = lane.waiting.shift()!;
    // To the end: lanes take turns.
    this.lanes.delete(name);
    if (lane.waiting.length) this.lanes.set(name, lane);
    this.waiting -= 1;
    this.underWay += 1;
    if (due.host) more(this.hosts, due.host, 1);
    more(this.tenants, due.tenantId, 1);
    return due;
  }

  private mayHaveMore({ host, tenantId }: Lane<T>): boolean {
    const { host: ofHost, tenant: ofTenant } = this.allowances;
    return (
      (this.hosts.get(host) ?? 0) < ofHost.limitOf(host) &&
      (this.tenants.get(tenantId) ?? 0) < ofTenant.limitOf(tenantId)
    );
  }

  private isFull(lane: Lane<T>): boolean {
    return lane.waiting.length >= this.capacity(lane);
  }

  private capacity({ host }: Lane<T>): number {
    return AHEAD * this.allowances.host.limitOf(host);
  }
}
