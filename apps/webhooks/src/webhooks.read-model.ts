import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { PageOf, PageQuery, Webhook, WebhookEvent } from '@attestry/contracts';
import { KeyVault } from '@attestry/keys';
import { CursorCodec, page, ReadModels, type RunningProjection } from '@attestry/read-model';
import { Health } from '@attestry/service-kit';
import { webhooksProjection, type WebhookTables } from './webhooks.projection.js';

const DEFAULT_LIMIT = 100;
/** How long a write waits for its own projection (decision 29), milliseconds. */
const OWN_WRITE_MS = 250;

@Injectable()
export class WebhooksReadModel implements OnModuleInit {
  running!: RunningProjection<WebhookTables>;

  constructor(
    private readonly readModels: ReadModels,
    private readonly health: Health,
    private readonly vault: KeyVault,
  ) {}

  async onModuleInit(): Promise<void> {
    this.running = await this.readModels.start(webhooksProjection);
    this.health.register(webhooksProjection.name, () => {
      const { name, healthy, caughtUp, error } = this.running.health;
      return [{ name, healthy, starting: !caughtUp, ...(error !== undefined && { error }) }];
    });
  }

  /** Called by writes whose list a caller would look at next. */
  async settled(position: string | undefined): Promise<void> {
    await this.running.waitFor(position, OWN_WRITE_MS);
  }

  /** Oldest first. A cursor the list did not give out is a 400. */
  async webhooksOf(tenantId: string, { limit = DEFAULT_LIMIT, cursor }: PageQuery): Promise<PageOf<Webhook>> {
    const codec = new CursorCodec({
      mac: (text) => this.vault.mac(text, 'cursor').mac,
      scope: JSON.stringify(['webhooks', tenantId]),
    });
    const query = this.running.db
      .selectFrom('webhook')
      .where('tenant_id', '=', tenantId)
      .select(['id', 'url', 'events', 'disabled', 'created_at']);
    const listed = await page(query, { limit, codec, ...(cursor !== undefined && { cursor }) });
    return {
      data: listed.data.map(({ id, url, events, disabled }) => ({
        id,
        events: JSON.parse(events) as WebhookEvent[],
        url,
        disabled: disabled === 1,
      })),
      ...(listed.nextCursor !== undefined && { nextCursor: listed.nextCursor }),
    };
  }
}
