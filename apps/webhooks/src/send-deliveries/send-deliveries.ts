import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  EventStore,
  Leases,
  Streams,
  type Clock,
  type EventContext,
  type Ids,
  type Lease,
} from '@attestry/event-store';
import { isErased, KeyNotFound, KeyVault, SealBroken } from '@attestry/keys';
import { CLOCK, Health, IDS, LOGGER, Outbound, PlatformConfig, type Logger } from '@attestry/service-kit';
import {
  endAttempt,
  isSuccess,
  startAttempt,
  type AttemptOutcome,
} from '../webhook-delivery/webhook-delivery.decisions.js';
import type { CancelReason, ScheduledDelivery } from '../webhook-delivery/webhook-delivery.events.js';
import { isPending, webhookDelivery, webhookDeliveryStream } from '../webhook-delivery/webhook-delivery.state.js';
import { WebhookKeys } from '../webhook-keys.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';
import { WebhooksReadModel } from '../webhooks.read-model.js';
import { Allowances } from './allowances.js';
import { attemptError } from './attempt-error.js';
import { ObserveAttempts, type QueueState } from './observe-attempts.js';
import { webhookRequest } from './webhook-request.js';

const NAME = 'webhooks.sender';
/** Renewed every third of it, and looked for every sixth: taken over within 7 s. */
const LEASE_MS = 6000;
/** Looked at this often for what other processes scheduled. */
const POLL_MS = 1000;
/** After a failure of ours, and before a row is looked at again that was not due after all. */
const RETRY_MS = 1000;
const STALE_MS = 100;
const OWN_WRITE_MS = 1000;
/** Attempts under way, see Allowances. A slow host or tenant fills its own share, and who has none under way goes first. */
const LIMITS = { all: 128, tenant: { least: 8, most: 64 }, host: { least: 4, most: 64 } } as const;
/** An answer that took no longer is a quick one, milliseconds. */
const QUICK_MS = 500;
/** Of an answer's body, which nobody reads. */
const MAX_ANSWER_BYTES = 16_384;

interface DueDelivery {
  tenantId: string;
  deliveryKey: string;
  webhookId: string;
  requestId: string;
  /** Empty when the webhook is gone: nothing will be sent. */
  host: string;
  cancel: CancelReason | null;
}

type Credential =
  { state: 'none' } | { state: 'open'; value: unknown } | { state: 'erased' } | { state: 'broken'; error: string };

/**
 * Sends what is due. The queue is a table of the projection, so retries outlive any process; a lease lets one process
 * send at a time. Each attempt is an event before the request goes out and another when its outcome is known.
 */
@Injectable()
export class SendDeliveries implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly holder = randomUUID();
  private readonly stopping = new AbortController();
  private readonly underWay = new Map<string, { due: DueDelivery; done: Promise<void> }>();
  private waking = new AbortController();
  /** Position the queue must have reached before it is read, so that what was just scheduled is sent at once. */
  private scheduled: string | undefined;
  private readonly allowances = { host: new Allowances(LIMITS.host), tenant: new Allowances(LIMITS.tenant) };
  private error: string | undefined;
  /** By this process's own clock, which goes on while it is paused. */
  private leasedUntil = 0;
  private running: Promise<void> | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly leases: Leases,
    private readonly readModel: WebhooksReadModel,
    private readonly vault: KeyVault,
    private readonly keys: WebhookKeys,
    private readonly outbound: Outbound,
    private readonly config: PlatformConfig,
    private readonly health: Health,
    private readonly observe: ObserveAttempts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.health.register(NAME, () => [
      { name: NAME, healthy: this.error === undefined, ...(this.error !== undefined && { error: this.error }) },
    ]);
    this.observe.queue(NAME, () => this.queued());
    this.running = this.run();
  }

  /** Attempts under way end first: each takes at most the time-out. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** There is something new to send. */
  wake(position?: string): void {
    const known = this.scheduled;
    if (position !== undefined && (known === undefined || this.store.comparePositions(position, known) > 0))
      this.scheduled = position;
    this.waking.abort();
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        const asked = performance.now();
        const lease = await this.leases.acquire(NAME, this.holder, LEASE_MS);
        if (lease) await this.lead(lease, asked);
        else {
          // Another process sends.
          this.error = undefined;
          await this.sleep(LEASE_MS / 6);
        }
      } catch (error) {
        this.failed(error);
        await this.sleep(RETRY_MS);
      }
    }
  }

  private async lead(first: Lease, acquired: number): Promise<void> {
    let lease: Lease = first;
    let renewAt = this.renewed(acquired);
    try {
      while (!this.stopping.signal.aborted) {
        if (performance.now() >= renewAt) {
          const asked = performance.now();
          const renewed = await this.leases.renew(lease, LEASE_MS);
          if (!renewed) return;
          lease = renewed;
          renewAt = this.renewed(asked);
        }
        this.waking = new AbortController();
        const { scheduled } = this;
        this.scheduled = undefined;
        await this.readModel.running.waitFor(scheduled, OWN_WRITE_MS);
        await this.startDue();
        if (!this.underWay.size) this.error = undefined;
        await this.sleep(Math.min(POLL_MS, await this.untilNext()), [this.waking.signal]);
      }
    } finally {
      await Promise.all([...this.underWay.values()].map(({ done }) => done));
      await this.leases.release(lease);
    }
  }

  /** Notes until when the lease is ours for certain, and answers when to renew it. */
  private renewed(asked: number): number {
    this.leasedUntil = asked + LEASE_MS;
    return asked + LEASE_MS / 3;
  }

  /** Starts as many as the limits allow. */
  private async startDue(): Promise<void> {
    while (!this.stopping.signal.aborted && this.underWay.size < LIMITS.all) {
      const busy = [...this.underWay.values()].map(({ due }) => due);
      // The oldest of those who have nothing under way first: a host that never answers must not take every free place.
      const idle = await this.due(new Set(busy.map(({ host }) => host)), new Set(busy.map(({ tenantId }) => tenantId)));
      const rows = idle.length ? idle : await this.due(this.atLimit('host'), this.atLimit('tenant'));
      let started = 0;
      for (const due of rows) {
        if (this.atLimit('host').has(due.host) || this.atLimit('tenant').has(due.tenantId)) continue;
        const done = this.attempt(due).finally(() => {
          this.underWay.delete(due.deliveryKey);
          this.wake();
        });
        this.underWay.set(due.deliveryKey, { due, done });
        started += 1;
      }
      if (!started) return;
    }
  }

  private atLimit(what: 'host' | 'tenant'): Set<string> {
    const counts = new Map<string, number>();
    for (const { due } of this.underWay.values()) {
      const name = what === 'host' ? due.host : due.tenantId;
      if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return new Set(
      [...counts].filter(([name, count]) => count >= this.allowances[what].of(name)).map(([name]) => name),
    );
  }

  private async due(hosts: ReadonlySet<string>, tenants: ReadonlySet<string>): Promise<DueDelivery[]> {
    const names = [...hosts].filter(Boolean);
    const rows = await this.readModel.running.db
      .selectFrom('delivery')
      .leftJoin('webhook', (join) =>
        join.onRef('webhook.tenant_id', '=', 'delivery.tenant_id').onRef('webhook.id', '=', 'delivery.webhook_id'),
      )
      .where('delivery.due_at', '<=', this.clock.now().toISOString())
      .$if(this.underWay.size > 0, (query) => query.where('delivery.delivery_key', 'not in', [...this.underWay.keys()]))
      .$if(tenants.size > 0, (query) => query.where('delivery.tenant_id', 'not in', [...tenants]))
      .$if(names.length > 0, (query) =>
        query.where((where) => where.or([where('webhook.host', 'is', null), where('webhook.host', 'not in', names)])),
      )
      .orderBy('delivery.due_at')
      .limit(LIMITS.all - this.underWay.size)
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

  /** Never rejects: a failure of ours leaves the delivery due. */
  private async attempt(due: DueDelivery): Promise<void> {
    try {
      const position = await this.deliver(due);
      if (position === undefined) await this.sleep(STALE_MS);
      else await this.readModel.running.waitFor(position, OWN_WRITE_MS);
    } catch (error) {
      this.failed(error);
      await this.sleep(RETRY_MS);
    }
  }

  /** One attempt, or the end of a delivery that must not be sent any more. Answers where the queue shows it. */
  private async deliver(due: DueDelivery): Promise<string | undefined> {
    const { tenantId, deliveryKey } = due;
    const stream = webhookDeliveryStream(tenantId, deliveryKey);
    const { state } = await this.streams.load(webhookDelivery, stream);
    if (!isPending(state)) return undefined;
    const { delivery } = state;
    const target = await this.target(due);
    const credential: Credential = 'cancelled' in target ? { state: 'none' } : await this.open(tenantId, delivery);
    const cancelled =
      'cancelled' in target ? target.cancelled : credential.state === 'erased' ? 'credential-erased' : undefined;
    // Whoever was paused longer than the lease starts nothing: another process may be sending this very delivery.
    if (performance.now() >= this.leasedUntil) return undefined;
    const deliveryId = this.ids.uuid();
    const now = this.clock.now();
    const started = await this.streams.runDecision(
      webhookDelivery,
      stream,
      (current) => startAttempt(current, { deliveryId }, { now: now.toISOString(), ...(cancelled && { cancelled }) }),
      this.context(due),
    );
    if (started.state.status !== 'attempting' || started.state.deliveryId !== deliveryId || 'cancelled' in target)
      return started.position;
    const attempt = started.state.attempts + 1;
    const sentAt = performance.now();
    const outcome = await this.observe.attempt({ stream, attempt }, () =>
      this.send(due, target.url, delivery, credential, { deliveryId, attempt, now }),
    );
    const quick = isSuccess(outcome) && performance.now() - sentAt <= QUICK_MS;
    this.allowances.host.note(due.host, quick);
    this.allowances.tenant.note(tenantId, quick);
    const facts = {
      now: this.clock.now().toISOString(),
      retrySeconds: this.config.webhookRetrySeconds,
      jitter: (Math.random() - 0.5) * 0.4,
    };
    const ended = await this.streams.runDecision(
      webhookDelivery,
      stream,
      (current) => endAttempt(current, { deliveryId, ...outcome }, facts),
      this.context(due),
    );
    this.error = undefined;
    return ended.position ?? started.position;
  }

  private async target({
    tenantId,
    webhookId,
    cancel,
  }: DueDelivery): Promise<{ url: string } | { cancelled: CancelReason }> {
    if (cancel) return { cancelled: cancel };
    const { state } = await this.streams.load(webhook, webhookStream(tenantId, webhookId));
    if (state.status !== 'living') return { cancelled: 'webhook-deleted' };
    return state.disabled ? { cancelled: 'webhook-disabled' } : { url: state.url };
  }

  /** A key that never was, or a broken seal, does not mend: the delivery runs out of attempts and says why. */
  private async open(tenantId: string, { sealedCredential }: ScheduledDelivery): Promise<Credential> {
    if (!sealedCredential) return { state: 'none' };
    try {
      const opened = await this.vault.open(tenantId, 'delivery', sealedCredential.sealed);
      return isErased(opened) ? { state: 'erased' } : { state: 'open', value: JSON.parse(opened) as unknown };
    } catch (error) {
      if (error instanceof KeyNotFound) return { state: 'broken', error: 'credential-key-missing' };
      if (error instanceof SealBroken) return { state: 'broken', error: 'credential-seal-broken' };
      throw error;
    }
  }

  private async send(
    due: DueDelivery,
    url: string,
    { webhookId, event, payload }: ScheduledDelivery,
    credential: Credential,
    { deliveryId, attempt, now }: { deliveryId: string; attempt: number; now: Date },
  ): Promise<Omit<AttemptOutcome, 'deliveryId'>> {
    if (credential.state === 'broken') return { error: credential.error };
    const signer = await this.signer(due);
    if (!signer) return { error: 'signing-key-missing' };
    const envelope = {
      deliveryId,
      deliveryTimestamp: now.toISOString(),
      webhookId,
      event: {
        ...event,
        payload: { ...payload, ...(credential.state === 'open' && { credential: credential.value }) },
      },
    };
    const { headers, body } = await webhookRequest(url, envelope, { attempt, now, signer });
    try {
      const { status } = await this.outbound.send(url, {
        method: 'POST',
        headers,
        body,
        timeoutMs: this.config.webhookTimeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        statusOnly: true,
      });
      return { status };
    } catch (error) {
      return { error: attemptError(error) };
    }
  }

  private async signer(due: DueDelivery) {
    try {
      return await this.keys.signer(due.tenantId, this.context(due));
    } catch (error) {
      if (error instanceof KeyNotFound) return undefined;
      throw error;
    }
  }

  private context({ tenantId, requestId, deliveryKey }: DueDelivery): EventContext {
    return {
      tenantId,
      requestId,
      actor: 'service:webhooks',
      operation: NAME,
      correlationId: requestId,
      causationId: deliveryKey,
      partitionKey: tenantId,
    };
  }

  private failed(error: unknown): void {
    this.error = error instanceof Error ? error.message : String(error);
    this.logger.error({ error: this.error }, 'sending webhooks failed');
  }

  /** Ends early when the process stops, or by one of `signals`. */
  private async sleep(ms: number, signals: readonly AbortSignal[] = []): Promise<void> {
    const signal = AbortSignal.any([this.stopping.signal, ...signals]);
    try {
      await pause(ms, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
