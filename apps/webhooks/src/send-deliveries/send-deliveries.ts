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
import { CLOCK, Health, IDS, LOGGER, type Logger } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import type { WebhookDeliveryEvent } from '../webhook-delivery/webhook-delivery.events.js';
import { isPending, type WebhookDeliveryState } from '../webhook-delivery/webhook-delivery.state.js';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';
import { AttemptDelivery, type Attempted } from './attempt-delivery.js';
import { ObserveAttempts, type QueueState } from './observe-attempts.js';
import { DeliveryQueue, type DueDelivery, type QueuedDelivery } from './delivery-queue.js';

const NAME = 'webhooks.sender';
/** Looked at this often for what other processes scheduled. */
const POLL_MS = 1000;
/** Before a row is looked at again that was not due after all. */
const STALE_MS = 100;
const OWN_WRITE_MS = 1000;
/** Rows of the queue fetched at once. */
const FETCHED = 512;
/** Times the queue is asked in a row, while some rows find no room and hide others. */
const FETCHES = 4;
/** A condition for each, and SQLite's expressions have a most of depth. */
const MOST_PASSED_BY = 200;
/** Credentials up to this length wait in memory; for larger ones the stream is read again. */
const MOST_CHARACTERS = 16_384;
/** Ended deliveries remembered until the queue shows it. */
const MOST_SETTLING = 20_000;

/** A place is waited for so long, where the host was quick of late. */
const PATIENCE_MS = 250;

/** A delivery as its append left it. */
export interface Offer extends Pick<DueDelivery, 'tenantId' | 'requestId' | 'host'> {
  decided: Decided<WebhookDeliveryState, WebhookDeliveryEvent>;
}

/** One attempt may go out at once, under this id. It counts as under way until it is sent or left. */
export interface AttemptSlot {
  deliveryId: string;
  /** Unless it came otherwise, and the delivery does not tell of this attempt. */
  send(offer: Offer): void;
  leave(): void;
}

/** Asks for a place before there is a delivery. */
interface SlotRequest extends QueuedDelivery {
  answer(isGranted: boolean): void;
}

/**
 * Sends what is due; a lease lets one process send at a time. The queue is a table of the projection, so retries outlive
 * any process. What this process schedules while it sends need not come by there: it waits in memory for a free place, and
 * the table is asked only for the rest (ADR 0038).
 */
@Injectable()
export class SendDeliveries implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly worker: LeasedWorker<true>;
  private readonly stopping = new AbortController();
  private readonly queue = new DeliveryQueue<DueDelivery | SlotRequest>();
  /** Hosts that let nobody pass while somebody waited for a place, until they do. */
  private readonly slowHosts = new LRUCache<string, true>({ max: 10_000 });
  private readonly underWay = new Set<Promise<void>>();
  /** Ended here, by the position from which on the queue shows it. */
  private readonly settling = new Map<string, string>();
  /** While this process sends. */
  private term: Term | undefined;
  /** Position the queue must have reached before it is read, so that what was just scheduled is sent at once. */
  private scheduled: string | undefined;
  /** Of the last attempt, when that failed on our side. */
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

  /** Attempts under way end first: each takes at most the time-out. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.worker.stop();
  }

  /**
   * A place for a first attempt that is stored together with its delivery: one event instead of two, and nothing to be
   * looked for in the queue. It is waited for where the host is quick, so that what comes in a rush stays in the feed until
   * it can go out. Without one the delivery is stored and {@link offer}ed.
   */
  async reserveSlot(of: QueuedDelivery): Promise<AttemptSlot | undefined> {
    if (!this.term || !of.host || this.queue.has(of.deliveryKey) || !(await this.waitForSlot(of))) return undefined;
    const ended = Promise.withResolvers<void>();
    this.underWay.add(ended.promise);
    const leave = () => {
      this.queue.end(of);
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
    const answer = (isGranted: boolean) => {
      isOpen = false;
      granted.resolve(isGranted);
    };
    const request: SlotRequest = { ...of, answer };
    const giveUp = () => {
      this.queue.withdraw(request);
      answer(false);
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

  /** Something was stored that is to be sent at once. */
  offer(offer: Offer): void {
    const due = dueOf(offer);
    if (!due) return;
    const { position } = offer.decided;
    if (!this.term) return this.wake(position);
    if (this.queue.add(due)) return this.fill();
    this.note(position);
  }

  /** The queue is to be read from there on. */
  private note(position: string | undefined): void {
    const known = this.scheduled;
    if (position !== undefined && (known === undefined || this.store.comparePositions(position, known) > 0))
      this.scheduled = position;
  }

  private wake(position?: string): void {
    this.note(position);
    this.worker.wake();
  }

  private async beginTerm(term: Term): Promise<BatchSource<true>> {
    this.term = term;
    return { next: async () => true, close: () => this.endTerm() };
  }

  private async endTerm(): Promise<void> {
    this.term = undefined;
    for (const waiting of this.queue.clear()) if ('answer' in waiting) waiting.answer(false);
    await Promise.all(this.underWay);
  }

  private async fetchDue(): Promise<number> {
    const { scheduled } = this;
    this.scheduled = undefined;
    const isShown = await this.readModel.running.waitFor(scheduled, OWN_WRITE_MS);
    if (!isShown) this.note(scheduled);
    await this.fetch();
    if (!this.underWay.size) this.error = undefined;
    return Math.min(isShown ? POLL_MS : STALE_MS, await this.untilNext());
  }

  /** Takes from the queue what is due and not known here. */
  private async fetch(): Promise<void> {
    this.settle();
    // The oldest of those who have nothing here first: a host with much to come must not hide the others.
    this.take(await this.due(this.queue.present(), FETCHED));
    for (let round = 0; !this.stopping.signal.aborted; round++) {
      const { lanes, others } = this.queue.full();
      const limit = FETCHED + others + this.settling.size;
      const rows = await this.due({ passedBy: lanes.slice(0, MOST_PASSED_BY) }, limit);
      const refused = this.take(rows);
      if (rows.length < limit) return;
      // Whoever is full now is passed by the next time.
      if (round === FETCHES) return refused < rows.length ? this.wake() : undefined;
    }
  }

  /** Answers how many found no room. */
  private take(rows: readonly DueDelivery[]): number {
    let refused = 0;
    for (const due of rows) if (!this.settling.has(due.deliveryKey) && !this.queue.add(due)) refused += 1;
    this.fill();
    return refused;
  }

  /** Starts as many as the limits allow. */
  private fill(): void {
    if (!this.term || this.stopping.signal.aborted) return;
    for (let next = this.queue.take(); next; next = this.queue.take())
      if ('answer' in next) next.answer(true);
      else this.start(next);
  }

  private start(due: DueDelivery): void {
    const done = this.attempt(due, this.term).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
  }

  /** Never rejects: a failure of ours leaves the delivery due. */
  private async attempt(due: DueDelivery, term: Term | undefined): Promise<void> {
    let attempted: Attempted = {};
    try {
      // Whoever was paused longer than the lease starts nothing: another process may be sending this very delivery.
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
    this.queue.end(due, quick);
    if (quick) this.slowHosts.delete(due.host);
    this.fill();
    // When it is due again is for the queue to say.
    if (!ended) this.wake(position);
    else if (this.queue.wantsMore(due)) this.wake();
  }

  /** Forgets what ended as far as the queue shows it. */
  private settle(): void {
    const { position: shown } = this.readModel.running.health;
    for (const [deliveryKey, position] of this.settling) {
      const isShown = shown !== undefined && this.store.comparePositions(shown, position) >= 0;
      // Oldest first; and whose end the queue does not show is found to be stale when it is tried.
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

  /** Milliseconds to the next that is not due yet. */
  private async untilNext(): Promise<number> {
    const now = this.clock.now();
    const next = await this.readModel.running.db
      .selectFrom('delivery')
      .where('due_at', '>', now.toISOString())
      .orderBy('due_at')
      .limit(1)
      .select('due_at')
      .executeTakeFirst();
    return next ? Math.max(1, Date.parse(next.due_at) - now.getTime()) : POLL_MS;
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
  if ((sealedCredential?.sealed.length ?? 0) > MOST_CHARACTERS) return due;
  return { ...due, loaded: { state, revision, chain, position } };
};
