import { updateWebhook, type ClientContext, type Webhook } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, Outbound, type RequestOf } from '@attestry/service-kit';
import { WebhookDirectory } from '../webhook/webhook.directory.js';
import { viewOf } from '../webhook/webhook-view.js';
import { acceptedUrl, activeWebhook, updateWebhook as decide } from '../webhook/webhook.decisions.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';
import { TenantSlots } from '../webhook-slots/tenant-slots.js';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';

/** Two streams: the slot gets the URL first, so that concurrent updates cannot pass the limit. A failure between the two is corrected by the next update. */
@Operation(updateWebhook)
export class UpdateWebhook {
  constructor(
    private readonly streams: Streams,
    private readonly outbound: Outbound,
    private readonly slots: TenantSlots,
    private readonly readModel: WebhooksReadModel,
    private readonly directory: WebhookDirectory,
  ) {}

  async execute(request: RequestOf<typeof updateWebhook>, context: ClientContext): Promise<Webhook> {
    const tenantId = context.tenant.id;
    const { webhookId } = request.params;
    const { events, disabled } = request.body;
    activeWebhook((await this.streams.load(webhook, webhookStream(tenantId, webhookId))).state);
    const url = acceptedUrl(request.body.url, this.outbound.checkUrl(request.body.url));
    await this.slots.changeUrl(tenantId, { webhookId, url }, eventContext(context));
    const { state, revision, position } = await this.streams.runDecision(
      webhook,
      webhookStream(tenantId, webhookId),
      (current) => decide(current, { url, events, ...(typeof disabled === 'boolean' && { disabled }) }),
      eventContext(context),
    );
    const { state: stored } = await this.streams.load(webhook, webhookStream(tenantId, webhookId));
    if (stored.status === 'active')
      await this.slots.correctUrl(tenantId, { webhookId, url: stored.url }, eventContext(context));
    this.directory.applyOwnWrite(tenantId, webhookId, state, revision);
    await this.readModel.settled(position);
    return viewOf(activeWebhook(state));
  }
}
