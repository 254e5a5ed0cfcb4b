import { listWebhooks, type OperationContext, type PageOf, type Webhook } from '@attestry/contracts';
import { Operation, tenantOf, type RequestOf } from '@attestry/service-kit';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';

@Operation(listWebhooks)
export class ListWebhooks {
  constructor(private readonly readModel: WebhooksReadModel) {}

  execute(request: RequestOf<typeof listWebhooks>, context: OperationContext): Promise<PageOf<Webhook>> {
    return this.readModel.webhooksOf(tenantOf(context).id, request.query);
  }
}
