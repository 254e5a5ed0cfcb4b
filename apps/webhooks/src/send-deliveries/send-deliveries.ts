import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  backOffMs,
  LeasedWorker,
  Leases,
  sleep,
  type BatchSource,
  type Decided,
  type Ids,
  type Term,
} from '@attestry/event-store';
import { Health, IDS, LOGGER, type Logger } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import type { WebhookDeliveryEvent } from '../webhook-delivery/webhook-delivery.events.js';
import { isPending, type WebhookDeliveryState } from '../webhook-delivery/webhook-delivery.state.js';
import { AttemptDelivery, type Attempted } from './attempt-delivery.js';
import { ObserveAttempts } from './observe-attempts.js';
import { DueDeliveries } from './due-deliveries.js';
import { DeliveryQueue, type DueDelivery, type QueuedDelivery } from './delivery-queue.js';

const NAME = 'webhooks.sender';
/** Poll interval for deliveries that other processes scheduled. */
const POLL_MS = 1000;
/** Pause before a row that was not due is read again. */
const STALE_MS = 100;
const OWN_WRITE_MS = 1000;
/** Rows of the queue fetched at once. */
const FETCHED = 512;
/** Queries of the queue in a row, while rows without room hide others. */
const FETCHES = 4;
/** One condition each; SQLite limits the depth of expressions. */
const MOST_PASSED_BY = 200;
/** Ended deliveries remembered until the queue shows their end. */
const MOST_SETTLING = 20_000;

/** Longest wait for a slot, for hosts that answered quickly. */
const PATIENCE_MS = 250;

/** A delivery as its append left it. */
export interface Offer extends Pick<DueDelivery, 'tenantId' | 'requestId' | 'host'> {
  decided: Decided<WebhookDeliveryState, WebhookDeliveryEvent>;
}

/** One attempt may be sent at once, under this id. It counts as in flight until it is sent or left. */
export interface AttemptSlot {
  deliveryId: string;
  /** Unless the delivery does not record this attempt. */
  send(offer: Offer): void;
  leave(): void;
}

/** Requests a slot before a delivery exists. */
interface SlotRequest extends QueuedDelivery {
  settle(isGranted: boolean): void;
}

/**
 * Sends due deliveries; a lease lets one process send at a time. The queue is a table of the projection, so retries survive any process.
 * What this process schedules while it sends bypasses the table: it waits in memory for a free slot, and the table is queried only for the
 * rest (ADR 0038).
 */
@Injectable()
export class SendDeliveries implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly worker: LeasedWorker<true>;
  private readonly stopping = new AbortController();
  private readonly queue = new DeliveryQueue<DueDelivery | SlotRequest>();
  /** Hosts without a free slot since a first attempt waited for one. */
  private readonly slowHosts = new LRUCache<string, true>({ max: 10_000 });
  private readonly underWay = new Set<Promise<void>>();
  /** Deliveries ended here, by the position from which the queue shows it. */
  private readonly settling = new Map<string, string>();
  /** Set while this process sends. */
  private term: Term | undefined;
  /** Position that the queue must have reached before it is read, so that what was just scheduled is sent at once. */
  private scheduled: string | undefined;
  /** Error of the last attempt, when it failed in this process. */
  private error: string | undefined;
  /** Such attempts in a row. */
  private failures = 0;

  constructor(
    leases: Leases,
    private readonly due: DueDeliveries,
    private readonly delivery: AttemptDelivery,
    private readonly health: Health,
    private readonly observe: ObserveAttempts,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.worker = new LeasedWorker<true>({
      name: NAME,
      lease: { leases, holder: randomUUID() },
      openSource: (term) => this.beginTerm(term),
      batch: () => this.fetchDue(),
      standBy: () => (this.error = undefined),
      onError: (error) => this.log(error.message),
    });
  }

  onApplicationBootstrap(): void {
    this.health.register(NAME, () => [
      this.error === undefined ? this.worker.health : { name: NAME, healthy: false, error: this.error },
    ]);
    this.observe.queue(NAME, () => this.due.state());
    this.worker.start();
  }

  /** Attempts in flight end first: each takes at most the time-out. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.worker.stop();
  }

  /**
   * A slot for a first attempt that is stored together with its delivery: one event instead of two, and no query of the queue. For a quick
   * host it is waited for, so that a burst stays in the feed until it can be sent. Without a slot the delivery is stored and {@link
   * offer}ed.
   */
  async reserveSlot(of: QueuedDelivery): Promise<AttemptSlot | undefined> {
    if (!this.term || !of.host || this.queue.has(of.deliveryKey) || !(await this.waitForSlot(of))) return undefined;
    const ended = Promise.withResolvers<void>();
    this.underWay.add(ended.promise);
    const leave = () => {
      this.queue.freeSlot(of);
      this.underWay.delete(ended.promise);
      ended.resolve();
      this.fill();
    };
    const deliveryId = this.ids.uuid();
    const send = (offer: Offer) => {
      const { state } = offer.decided;
      const due = dueOf(offer);
      if (!due || state.status !== 'attempting' || state.deliveryId !== deliveryId) return leave();
      this.start({ ...due, deliveryId });
      this.underWay.delete(ended.promise);
      ended.resolve();
    };
    return { deliveryId, send, leave };
  }

  private waitForSlot(of: QueuedDelivery): Promise<boolean> {
    const granted = Promise.withResolvers<boolean>();
    let isOpen = true;
    const settle = (isGranted: boolean) => {
      isOpen = false;
      granted.resolve(isGranted);
    };
    const request: SlotRequest = { ...of, settle: settle };
    const giveUp = () => {
      this.queue.withdraw(request);
      settle(false);
    };
    if (this.queue.add(request)) this.fill();
    else giveUp();
    if (isOpen && (this.slowHosts.has(of.host) || !this.queue.isQuick(of.host))) giveUp();
    if (isOpen) {
      const timer = setTimeout(() => {
        this.slowHosts.set(of.host, true);
        giveUp();
      }, PATIENCE_MS);
      void granted.promise.then(() => clearTimeout(timer));
    }
    return granted.promise;
  }

  /** A delivery was stored that is to be sent at once. */
  offer(offer: Offer): void {
    const due = dueOf(offer);
    if (!due) return;
    const { position } = offer.decided;
    if (!this.term) return this.wake(position);
    if (this.queue.add(due)) return this.fill();
    this.readFrom(position);
  }

  /** The queue is read from this position on. */
  private readFrom(position: string | undefined): void {
    const known = this.scheduled;
    if (position !== undefined && (known === undefined || this.due.isLater(position, known))) this.scheduled = position;
  }

  private wake(position?: string): void {
    this.readFrom(position);
    this.worker.wake();
  }

  private async beginTerm(term: Term): Promise<BatchSource<true>> {
    this.term = term;
    return { next: async () => true, close: () => this.endTerm() };
  }

  private async endTerm(): Promise<void> {
    this.term = undefined;
    for (const waiting of this.queue.clear()) if ('settle' in waiting) waiting.settle(false);
    await Promise.all(this.underWay);
  }

  private async fetchDue(): Promise<number> {
    const { scheduled } = this;
    this.scheduled = undefined;
    const isShown = await this.due.waitFor(scheduled, OWN_WRITE_MS);
    if (!isShown) this.readFrom(scheduled);
    let pauseMs = isShown ? POLL_MS : STALE_MS;
    await this.due.queryOnceChanged(async (now) => {
      const isEmpty = await this.readQueue();
      if (!this.underWay.size) this.error = undefined;
      const next = (await this.due.untilNext()) ?? Infinity;
      pauseMs = Math.min(pauseMs, next);
      return isEmpty ? now.getTime() + next : undefined;
    });
    return pauseMs;
  }

  /** Reads due deliveries from the queue that are not in memory. @returns whether there are none, in memory either */
  private async readQueue(): Promise<boolean> {
    this.dropSettled();
    const present = this.queue.present();
    const isIdle = !present.hosts.size && !present.tenants.size && !this.settling.size;
    // The oldest of hosts without deliveries in memory first: a host with many must not hide the others.
    if (!isIdle) this.queueRows(await this.due.list(present, FETCHED));
    for (let round = 0; !this.stopping.signal.aborted; round++) {
      const { lanes, others } = this.queue.full();
      const limit = FETCHED + others + this.settling.size;
      const rows = await this.due.list({ passedBy: lanes.slice(0, MOST_PASSED_BY) }, limit);
      const refused = this.queueRows(rows);
      if (rows.length < limit) return isIdle && round === 0 && rows.length === 0;
      // Hosts that are full now are skipped by the next query.
      if (round === FETCHES) {
        if (refused < rows.length) this.wake();
        break;
      }
    }
    return false;
  }

  /** Returns how many found no room. */
  private queueRows(rows: readonly DueDelivery[]): number {
    let refused = 0;
    for (const due of rows) if (!this.settling.has(due.deliveryKey) && !this.queue.add(due)) refused += 1;
    this.fill();
    return refused;
  }

  /** Starts as many as the limits allow. */
  private fill(): void {
    if (!this.term || this.stopping.signal.aborted) return;
    for (let next = this.queue.takeNext(); next; next = this.queue.takeNext())
      if ('settle' in next) next.settle(true);
      else this.start(next);
  }

  private start(due: DueDelivery): void {
    const done = this.attempt(due, this.term).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
  }

  /** Never rejects: after a failure in this process the delivery stays due. */
  private async attempt(due: DueDelivery, term: Term | undefined): Promise<void> {
    let attempted: Attempted = {};
    try {
      // A process that was paused longer than its lease starts nothing: another process may be sending this delivery.
      attempted = await this.delivery.attempt(due, NAME, () => term?.isHeld === true);
      if (attempted.position === undefined) await sleep(STALE_MS, this.stopping.signal);
      else this.error = undefined;
      this.failures = 0;
    } catch (error) {
      this.error = error instanceof Error ? error.message : String(error);
      this.log(this.error);
      await sleep(backOffMs(++this.failures), this.stopping.signal);
    }
    const { position, quick, ended } = attempted;
    if (position !== undefined) this.settling.set(due.deliveryKey, position);
    this.queue.freeSlot(due, quick);
    if (quick) this.slowHosts.delete(due.host);
    this.fill();
    // The queue decides when it is due again.
    if (!ended) this.wake(position);
    else if (this.queue.wantsMore(due)) this.wake();
  }

  /** Drops ended deliveries whose end the queue shows. */
  private dropSettled(): void {
    for (const [deliveryKey, position] of this.settling) {
      // Oldest first; one whose end the queue does not show yet is found to be stale when it is tried.
      if (this.due.shows(position) || this.settling.size > MOST_SETTLING) this.settling.delete(deliveryKey);
    }
  }

  private log(error: string): void {
    this.logger.error({ error }, 'sending webhooks failed');
  }
}

/** Undefined when nothing was stored just now. */
const dueOf = ({ tenantId, requestId, host, decided }: Offer): DueDelivery | undefined => {
  const { state, revision, chain, position } = decided;
  if (position === undefined || !isPending(state)) return undefined;
  const { deliveryKey, webhookId } = state.delivery;
  return {
    ...{ tenantId, deliveryKey, webhookId, requestId, host, cancel: null },
    loaded: { state, revision, chain, position },
  };
};
