import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { deleteWebhook as operation, OperationContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, tenantOf, type RequestOf } from '@attestry/service-kit';
import { WebhookDirectory } from '../webhook-directory.js';
import { TenantSlots } from '../webhook-slots/tenant-slots.js';
import { deleteWebhook } from '../webhook/webhook.decisions.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';
import { WebhooksReadModel } from '../webhooks.read-model.js';

export class DeleteWebhook {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@CommandHandler(DeleteWebhook)
export class DeleteWebhookHandler implements ICommandHandler<DeleteWebhook> {
  constructor(
    private readonly streams: Streams,
    private readonly slots: TenantSlots,
    private readonly readModel: WebhooksReadModel,
    private readonly directory: WebhookDirectory,
  ) {}

  async execute({ request, context }: DeleteWebhook): Promise<void> {
    const tenantId = tenantOf(context).id;
    const { webhookId } = request.params;
    const { state, revision, position } = await this.streams.runDecision(
      webhook,
      webhookStream(tenantId, webhookId),
      deleteWebhook,
      eventContext(context),
    );
    this.directory.note(tenantId, webhookId, state, revision);
    // Where this is not reached, the next creation that finds all slots held takes this one over.
    await this.slots.release(tenantId, webhookId, eventContext(context));
    await this.readModel.settled(position);
  }
}
