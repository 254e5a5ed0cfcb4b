import { Inject } from '@nestjs/common';
import { createWebhook, type ContextOf, type Webhook } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { CLOCK, eventContext, idFor, IDS, Operation, Outbound, type RequestOf } from '@attestry/service-kit';
import { WebhookDirectory } from '../webhook/webhook.directory.js';
import { WebhookKeys } from '../webhook-keys/webhook-keys.js';
import { TenantSlots } from '../webhook-slots/tenant-slots.js';
import { viewOf } from '../webhook/webhook-view.js';
import { acceptedUrl, createWebhook as decide, activeWebhook } from '../webhook/webhook.decisions.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';

/** Two streams: the slot first, so that a failure between the two blocks a slot for a minute and never allows a 21st webhook. */
@Operation(createWebhook)
export class CreateWebhook {
  constructor(
    private readonly streams: Streams,
    private readonly outbound: Outbound,
    private readonly slots: TenantSlots,
    private readonly keys: WebhookKeys,
    private readonly readModel: WebhooksReadModel,
    private readonly directory: WebhookDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(request: RequestOf<typeof createWebhook>, context: ContextOf<typeof createWebhook>): Promise<Webhook> {
    const tenantId = context.tenant.id;
    const { events, disabled } = request.body;
    const url = acceptedUrl(request.body.url, this.outbound.checkUrl(request.body.url));
    const webhookId = idFor(context, 'webhook', this.ids);
    const now = this.clock.now().toISOString();
    await this.slots.claim(tenantId, { webhookId, url }, eventContext(context));
    await this.keys.ensure(tenantId, eventContext(context));
    const { state, revision, position } = await this.streams.runDecision(
      webhook,
      webhookStream(tenantId, webhookId),
      (current) =>
        decide(current, { webhookId, url, events, ...(typeof disabled === 'boolean' && { disabled }) }, { now }),
      eventContext(context),
      { once: true },
    );
    this.directory.applyOwnWrite(tenantId, webhookId, state, revision);
    await this.readModel.settled(position);
    return viewOf(activeWebhook(state));
  }
}
