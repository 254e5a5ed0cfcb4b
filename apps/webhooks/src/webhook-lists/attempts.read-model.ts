import { Injectable } from '@nestjs/common';
import type { PageOf, PageQuery, WebhookAttempt } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { ReadModels } from '@attestry/read-model';
import { Health, listPage, ReadModel } from '@attestry/service-kit';
import { attemptsProjection, type AttemptTables } from './attempts.projection.js';

@Injectable()
export class AttemptsReadModel extends ReadModel<AttemptTables> {
  constructor(
    readModels: ReadModels,
    health: Health,
    private readonly macs: Macs,
  ) {
    super(readModels, health, attemptsProjection);
  }

  /** Newest first. @throws InvalidCursor */
  async attemptsOf(
    { tenantId, webhookId, since }: { tenantId: string; webhookId: string; since: string },
    request: PageQuery,
  ): Promise<PageOf<WebhookAttempt>> {
    await this.running.ownWrites();
    const query = this.running.db
      .selectFrom('webhook_attempt')
      .where('tenant_id', '=', tenantId)
      .where('webhook_id', '=', webhookId)
      .where('created_at', '>=', since)
      .selectAll();
    const options = { direction: 'desc', contents: ['event_id', 'error'] } as const;
    const listed = await listPage(query, request, this.macs, ['webhook-attempts', tenantId, webhookId], options);
    return {
      ...listed,
      data: listed.data.map((row) => ({
        deliveryId: row.id,
        webhookId,
        event: { id: row.event_id, type: row.event_type, timestamp: row.event_at },
        attempt: row.attempt,
        status: row.status,
        ...(row.http_status !== null && { httpStatus: row.http_status }),
        ...(row.error !== null && { error: row.error }),
        startedAt: row.created_at,
        ...(row.ended_at !== null && { endedAt: row.ended_at }),
        ...(row.next_attempt_at !== null && { nextAttemptAt: row.next_attempt_at }),
        ...(row.cancelled !== null && { cancelled: row.cancelled }),
      })),
    };
  }

  /** The delivery of an attempt. */
  async deliveryKeyOf(tenantId: string, webhookId: string, deliveryId: string): Promise<string | undefined> {
    const row = await this.running.db
      .selectFrom('webhook_attempt')
      .where('tenant_id', '=', tenantId)
      .where('id', '=', deliveryId)
      .where('webhook_id', '=', webhookId)
      .select('delivery_key')
      .executeTakeFirst();
    return row?.delivery_key;
  }
}
