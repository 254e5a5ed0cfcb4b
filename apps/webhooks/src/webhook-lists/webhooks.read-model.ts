import { Injectable } from '@nestjs/common';
import type { PageOf, PageQuery, Webhook, WebhookEvent } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { ReadModels } from '@attestry/read-model';
import { Health, listPage, ReadModel } from '@attestry/service-kit';
import { webhooksProjection, type WebhookTables } from './webhooks.projection.js';

@Injectable()
export class WebhooksReadModel extends ReadModel<WebhookTables> {
  constructor(
    readModels: ReadModels,
    health: Health,
    private readonly macs: Macs,
  ) {
    super(readModels, health, webhooksProjection);
  }

  /** Oldest first. @throws InvalidCursor */
  async webhooksOf(tenantId: string, request: PageQuery): Promise<PageOf<Webhook>> {
    const query = this.running.db
      .selectFrom('webhook')
      .where('tenant_id', '=', tenantId)
      .select(['id', 'url', 'events', 'disabled', 'created_at']);
    const listed = await listPage(query, request, this.macs, ['webhooks', tenantId], {
      contents: ['url', 'events'],
    });
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
