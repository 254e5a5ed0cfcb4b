import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  backOffMs,
  EventStore,
  LeasedWorker,
  Leases,
  sleep,
  type BatchSource,
  type Clock,
  type Decided,
  type Ids,
  type Term,
} from '@attestry/event-store';
import { CLOCK, Health, IDS, LOGGER, UnchangedRows, type Logger } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import type { WebhookDeliveryEvent } from '../webhook-delivery/webhook-delivery.events.js';
import { isPending, type WebhookDeliveryState } from '../webhook-delivery/webhook-delivery.state.js';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';
import { AttemptDelivery, type Attempted } from './attempt-delivery.js';
import { ObserveAttempts, type QueueState } from './observe-attempts.js';
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
/** Credentials up to this length wait in memory; for larger ones the stream is read again. */
const MOST_CHARACTERS = 16_384;
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
  private readonly unchanged: UnchangedRows;
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
    private readonly store: EventStore,
    leases: Leases,
    private readonly readModel: WebhooksReadModel,
    private readonly delivery: AttemptDelivery,
    private readonly health: Health,
    private readonly observe: ObserveAttempts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.unchanged = new UnchangedRows([readModel]);
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
    this.observe.queue(NAME, () => this.queued());
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
    if (position !== undefined && (known === undefined || this.store.comparePositions(position, known) > 0))
      this.scheduled = position;
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
    const isShown = await this.readModel.running.waitFor(scheduled, OWN_WRITE_MS);
    if (!isShown) this.readFrom(scheduled);
    const now = this.clock.now();
    let pauseMs = isShown ? POLL_MS : STALE_MS;
    await this.unchanged.queryOnceChanged(now, async () => {
      const isEmpty = await this.readQueue();
      if (!this.underWay.size) this.error = undefined;
      const next = (await this.untilNext()) ?? Infinity;
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
    if (!isIdle) this.queueRows(await this.due(present, FETCHED));
    for (let round = 0; !this.stopping.signal.aborted; round++) {
      const { lanes, others } = this.queue.full();
      const limit = FETCHED + others + this.settling.size;
      const rows = await this.due({ passedBy: lanes.slice(0, MOST_PASSED_BY) }, limit);
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
    const { position: shown } = this.readModel.running.health;
    for (const [deliveryKey, position] of this.settling) {
      const isShown = shown !== undefined && this.store.comparePositions(shown, position) >= 0;
      // Oldest first; one whose end the queue does not show yet is found to be stale when it is tried.
      if (isShown || this.settling.size > MOST_SETTLING) this.settling.delete(deliveryKey);
    }
  }

  private async due(
    but: { hosts: Set<string>; tenants: Set<string> } | { passedBy: { tenantId: string; host: string }[] },
    limit: number,
  ): Promise<DueDelivery[]> {
    const rows = await this.readModel.running.db
      .selectFrom('delivery')
      .leftJoin('webhook', (join) =>
        join.onRef('webhook.tenant_id', '=', 'delivery.tenant_id').onRef('webhook.id', '=', 'delivery.webhook_id'),
      )
      .where('delivery.due_at', '<=', this.clock.now().toISOString())
      .where((where) => {
        if ('passedBy' in but)
          return where.and(
            but.passedBy.map(({ tenantId, host }) =>
              where.or([
                where('delivery.tenant_id', '!=', tenantId),
                host ? where('webhook.host', '!=', host) : where('webhook.host', 'is not', null),
                ...(host ? [where('webhook.host', 'is', null)] : []),
              ]),
            ),
          );
        const [hosts, tenants] = [[...but.hosts], [...but.tenants]];
        return where.and([
          ...(tenants.length ? [where('delivery.tenant_id', 'not in', tenants)] : []),
          ...(hosts.length
            ? [where.or([where('webhook.host', 'is', null), where('webhook.host', 'not in', hosts)])]
            : []),
        ]);
      })
      .orderBy('delivery.due_at')
      .limit(limit)
      .select([
        'delivery.tenant_id as tenantId',
        'delivery.delivery_key as deliveryKey',
        'delivery.webhook_id as webhookId',
        'delivery.request_id as requestId',
        'webhook.host as host',
        'delivery.cancel as cancel',
      ])
      .execute();
    return rows.map((row) => ({ ...row, host: row.host ?? '' }));
  }

  /** Milliseconds until the next delivery is due. */
  private async untilNext(): Promise<number | undefined> {
    const now = this.clock.now();
    const next = await this.readModel.running.db
      .selectFrom('delivery')
      .where('due_at', '>', now.toISOString())
      .orderBy('due_at')
      .limit(1)
      .select('due_at')
      .executeTakeFirst();
    return next && Math.max(1, Date.parse(next.due_at) - now.getTime());
  }

  /** How long the queue is, and since when its head is due. */
  private async queued(): Promise<QueueState> {
    const now = this.clock.now();
    const row = await this.readModel.running.db
      .selectFrom('delivery')
      .select(({ fn }) => [
        fn.countAll().as('all'),
        fn.countAll().filterWhere('due_at', '<=', now.toISOString()).as('due'),
        fn.min('due_at').filterWhere('due_at', '<=', now.toISOString()).as('oldest'),
      ])
      .executeTakeFirstOrThrow();
    const due = Number(row.due);
    // '' is due at once, because it must not be sent any more.
    const since = row.oldest ? now.getTime() - Date.parse(row.oldest) : 0;
    return { due, waiting: Number(row.all) - due, oldestDueSeconds: since / 1000 };
  }

  private log(error: string): void {
    this.logger.error({ error }, 'sending webhooks failed');
  }
}

/** Undefined when nothing was stored just now. */
const dueOf = ({ tenantId, requestId, host, decided }: Offer): DueDelivery | undefined => {
  const { state, revision, chain, position } = decided;
  if (position === undefined || !isPending(state)) return undefined;
  const { deliveryKey, webhookId, sealedCredential } = state.delivery;
  const due = { tenantId, deliveryKey, webhookId, requestId, host, cancel: null };
  if (sealedCredential && 'sealed' in sealedCredential && sealedCredential.sealed.length > MOST_CHARACTERS) return due;
  return { ...due, loaded: { state, revision, chain, position } };
};
