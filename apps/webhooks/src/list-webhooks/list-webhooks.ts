import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { listWebhooks as operation, OperationContext, PageOf, Webhook } from '@attestry/contracts';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { WebhooksReadModel } from '../webhooks.read-model.js';

export class ListWebhooks {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(ListWebhooks)
export class ListWebhooksHandler implements IQueryHandler<ListWebhooks> {
  constructor(private readonly readModel: WebhooksReadModel) {}

  execute({ request, context }: ListWebhooks): Promise<PageOf<Webhook>> {
    return this.readModel.webhooksOf(tenantOf(context).id, request.query);
  }
}
