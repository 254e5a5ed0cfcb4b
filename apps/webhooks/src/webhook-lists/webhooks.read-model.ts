import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { PageOf, PageQuery, Webhook, WebhookEvent } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { ReadModels, type RunningProjection } from '@attestry/read-model';
import { Health, listPage, startProjection } from '@attestry/service-kit';
import { webhooksProjection, type WebhookTables } from './webhooks.projection.js';

@Injectable()
export class WebhooksReadModel implements OnModuleInit {
  running!: RunningProjection<WebhookTables>;

  constructor(
    private readonly readModels: ReadModels,
    private readonly health: Health,
    private readonly macs: Macs,
  ) {}

  async onModuleInit(): Promise<void> {
    this.running = await startProjection(this.readModels, this.health, webhooksProjection);
  }

  /** For writes after which a caller would read the list. */
  async settled(position: string | undefined): Promise<void> {
    await this.running.ownWrite(position);
  }

  /** Oldest first. @throws InvalidCursor */
  async webhooksOf(tenantId: string, request: PageQuery): Promise<PageOf<Webhook>> {
    const query = this.running.db
      .selectFrom('webhook')
      .where('tenant_id', '=', tenantId)
      .select(['id', 'url', 'events', 'disabled', 'created_at']);
    const listed = await listPage(query, request, this.macs, ['webhooks', tenantId]);
    return {
      ...listed,
      data: listed.data.map(({ id, url, events, disabled }) => ({
        id,
        events: JSON.parse(events) as WebhookEvent[],
        url,
        disabled: disabled === 1,
      })),
    };
  }
}
