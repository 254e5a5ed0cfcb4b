import { deleteWebhook, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { WebhookDirectory } from '../webhook/webhook.directory.js';
import { TenantSlots } from '../webhook-slots/tenant-slots.js';
import { deleteWebhook as decide } from '../webhook/webhook.decisions.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';

@Operation(deleteWebhook)
export class DeleteWebhook {
  constructor(
    private readonly streams: Streams,
    private readonly slots: TenantSlots,
    private readonly readModel: WebhooksReadModel,
    private readonly directory: WebhookDirectory,
  ) {}

  async execute(request: RequestOf<typeof deleteWebhook>, context: ClientContext): Promise<void> {
    const tenantId = context.tenant.id;
    const { webhookId } = request.params;
    const { state, revision, position } = await this.streams.runDecision(
      webhook,
      webhookStream(tenantId, webhookId),
      decide,
      eventContext(context),
    );
    this.directory.applyOwnWrite(tenantId, webhookId, state, revision);
    // After a crash before this line, the next creation that finds all slots held takes this one over.
    await this.slots.release(tenantId, webhookId, eventContext(context));
    await this.readModel.settled(position);
  }
}
