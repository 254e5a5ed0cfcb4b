import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { WebhookEvent } from '@attestry/contracts';
import {
  EventBatches,
  EventStore,
  LeasedWorker,
  readEvent,
  type BatchSource,
  type EventBatch,
  type RecordedEvent,
  type Term,
} from '@attestry/event-store';
import { Health, LOGGER, type Logger } from '@attestry/service-kit';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';
import { hostOf, webhook, type WebhookState } from './webhook.state.js';

interface Entry {
  webhookId: string;
  host: string;
  events: readonly WebhookEvent[];
  disabled: boolean;
  createdAt: string;
  /** Revision of the newest known event. */
  revision: number;
}

/** `host`: target of its deliveries. */
export interface Subscribed {
  webhookId: string;
  host: string;
  type: WebhookEvent;
}

const NAME = 'webhooks.directory';
const CATCH_UP_MS = 10_000;
const PAGE = 256;

/**
 * Subscriptions in memory: most tenants have no webhook, and that must cost nothing on the issuance path. Read from the projection at the
 * start, then updated by a subscription; writes of this process are visible at once.
 */
@Injectable()
export class WebhookDirectory implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly tenants = new Map<string, Map<string, Entry>>();
  private readonly worker: LeasedWorker<EventBatch>;
  private readonly loaded = Promise.withResolvers<void>();
  private after: string | undefined;
  private isLoaded = false;

  constructor(
    private readonly store: EventStore,
    private readonly readModel: WebhooksReadModel,
    private readonly health: Health,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.worker = new LeasedWorker<EventBatch>({
      name: NAME,
      openSource: (term) => this.openSource(term),
      batch: async ({ events, next }) => {
        for (const stored of events) this.apply(stored);
        this.after = next;
      },
      onError: ({ message: error }) => logger.error({ error }, 'webhook directory behind'),
    });
  }

  onApplicationBootstrap(): void {
    this.health.follow(NAME, () => ({ ...this.worker.health, caughtUp: this.isLoaded }));
    this.worker.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.stop();
    // Calls that still wait are rejected: their batch is redelivered after the next start.
    if (!this.isLoaded) this.loaded.resolve();
  }

  /**
   * Resolves when everything is known that was stored at the time of the call, also by other processes: a webhook counts from the response
   * to its creation on. @throws when the process ends before
   */
  async upToDate(): Promise<void> {
    await this.loaded.promise;
    if (!this.isLoaded) throw new Error('stopped before the webhooks were known');
    for (let after = this.after, atEnd = false; !atEnd;) {
      const page = await this.store.readAll({
        categories: [webhook.category],
        limit: PAGE,
        ...(after !== undefined && { after }),
      });
      for (const stored of page.events) this.apply(stored);
      ({ atEnd, next: after } = page);
    }
  }

  /** Enabled subscriptions of a tenant that existed at a time: one entry per event name. */
  subscriptions(tenantId: string, at: string): Subscribed[] {
    const entries = this.tenants.get(tenantId);
    if (!entries) return [];
    return [...entries.values()]
      .filter(({ disabled, createdAt }) => !disabled && createdAt <= at)
      .flatMap(({ webhookId, host, events }) => events.map((type) => ({ webhookId, host, type })));
  }

  webhookIds(tenantId: string): string[] {
    return [...(this.tenants.get(tenantId)?.keys() ?? [])];
  }

  /** A write of this process, so that it counts from the response on. */
  applyOwnWrite(tenantId: string, webhookId: string, state: WebhookState, revision: number): void {
    if (state.status !== 'active') return this.removeEntry(tenantId, webhookId);
    const known = this.tenants.get(tenantId)?.get(webhookId);
    if (known && known.revision >= revision) return;
    const { url, events, disabled, createdAt } = state;
    this.setEntry(tenantId, { webhookId, host: hostOf(url), events, disabled, createdAt, revision });
  }

  private async openSource({ signal }: Term): Promise<BatchSource<EventBatch>> {
    while (!this.isLoaded && !signal.aborted) await this.load();
    this.worker.recordSuccess();
    const after = this.after === undefined ? {} : { after: this.after };
    return new EventBatches(this.store, { categories: [webhook.category], ...after }, signal);
  }

  private async load(): Promise<void> {
    const head = await this.store.head();
    if (!(await this.readModel.running.waitForHead(CATCH_UP_MS))) return;
    const rows = await this.readModel.running.db.selectFrom('webhook').selectAll().execute();
    for (const row of rows)
      this.setEntry(row.tenant_id, {
        webhookId: row.id,
        host: row.host,
        events: JSON.parse(row.events) as WebhookEvent[],
        disabled: row.disabled === 1,
        createdAt: row.created_at,
        revision: row.revision,
      });
    this.after = head;
    this.isLoaded = true;
    this.loaded.resolve();
  }

  private apply(stored: RecordedEvent): void {
    const { tenantId } = stored.metadata;
    const { revision } = stored;
    const event = readEvent(webhook, stored);
    const { webhookId } = event.data;
    if (event.type === 'WebhookDeleted') return this.removeEntry(tenantId, webhookId);
    const known = this.tenants.get(tenantId)?.get(webhookId);
    if (known && known.revision >= revision) return;
    if (event.type === 'WebhookCreated') {
      const { url, events, disabled, createdAt } = event.data;
      return this.setEntry(tenantId, { webhookId, host: hostOf(url), events, disabled, createdAt, revision });
    }
    if (!known) return;
    switch (event.type) {
      case 'WebhookUrlChanged':
        return this.setEntry(tenantId, { ...known, host: hostOf(event.data.url), revision });
      case 'WebhookEventsChanged':
        return this.setEntry(tenantId, { ...known, events: event.data.events, revision });
      case 'WebhookDisabled':
        return this.setEntry(tenantId, { ...known, disabled: true, revision });
      case 'WebhookEnabled':
        return this.setEntry(tenantId, { ...known, disabled: false, revision });
    }
  }

  private setEntry(tenantId: string, entry: Entry): void {
    const entries = this.tenants.get(tenantId) ?? new Map<string, Entry>();
    this.tenants.set(tenantId, entries.set(entry.webhookId, entry));
  }

  private removeEntry(tenantId: string, webhookId: string): void {
    const entries = this.tenants.get(tenantId);
    entries?.delete(webhookId);
    if (entries?.size === 0) this.tenants.delete(tenantId);
  }
}
