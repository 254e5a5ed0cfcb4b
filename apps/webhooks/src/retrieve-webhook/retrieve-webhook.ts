import { retrieveWebhook, type ClientContext, type Webhook } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { viewOf } from '../webhook/webhook-view.js';
import { activeWebhook } from '../webhook/webhook.decisions.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';

@Operation(retrieveWebhook)
export class RetrieveWebhook {
  constructor(private readonly streams: Streams) {}

  async execute(request: RequestOf<typeof retrieveWebhook>, { tenant }: ClientContext): Promise<Webhook> {
    const stream = webhookStream(tenant.id, request.params.webhookId);
    return viewOf(activeWebhook((await this.streams.load(webhook, stream)).state));
  }
}
