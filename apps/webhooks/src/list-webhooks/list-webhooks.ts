import { listWebhooks, type ClientContext, type PageOf, type Webhook } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';

@Operation(listWebhooks)
export class ListWebhooks {
  constructor(private readonly readModel: WebhooksReadModel) {}

  execute(request: RequestOf<typeof listWebhooks>, { tenant }: ClientContext): Promise<PageOf<Webhook>> {
    return this.readModel.webhooksOf(tenant.id, request.query);
  }
}
