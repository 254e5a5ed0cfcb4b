import { Inject, Injectable } from '@nestjs/common';
import { EventStore, type Clock } from '@attestry/event-store';
import { CLOCK, UnchangedRows } from '@attestry/service-kit';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';
import type { DueDelivery } from './delivery-queue.js';
import type { QueueState } from './observe-attempts.js';

/** The table of deliveries that wait for an attempt, as far as the projection is. */
@Injectable()
export class DueDeliveries {
  private readonly unchanged: UnchangedRows;

  constructor(
    private readonly readModel: WebhooksReadModel,
    private readonly store: EventStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.unchanged = new UnchangedRows([readModel]);
  }

  isLater(position: string, than: string): boolean {
    return this.store.comparePositions(position, than) > 0;
  }

  /** Whether the table has all events up to this position. */
  shows(position: string): boolean {
    const { position: shown } = this.readModel.running.health;
    return shown !== undefined && !this.isLater(position, shown);
  }

  /** Waits until it has. @returns whether it does */
  waitFor(position: string | undefined, ms: number): Promise<boolean> {
    return this.readModel.running.waitFor(position, ms);
  }

  /** Runs a query unless the table has not changed since the last one. @param query returns milliseconds since the epoch at which it must run again */
  async queryOnceChanged(query: (now: Date) => Promise<number | undefined>): Promise<void> {
    const now = this.clock.now();
    await this.unchanged.queryOnceChanged(now, () => query(now));
  }

  async list(
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
  async untilNext(): Promise<number | undefined> {
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
  async state(): Promise<QueueState> {
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
}
