import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OperationContext, retrieveWebhook as operation, Webhook } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { viewOf } from '../webhook-view.js';
import { living } from '../webhook/webhook.decisions.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';

export class RetrieveWebhook {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveWebhook)
export class RetrieveWebhookHandler implements IQueryHandler<RetrieveWebhook> {
  constructor(private readonly streams: Streams) {}

  async execute({ request, context }: RetrieveWebhook): Promise<Webhook> {
    const stream = webhookStream(tenantOf(context).id, request.params.webhookId);
    return viewOf(living((await this.streams.load(webhook, stream)).state));
  }
}
