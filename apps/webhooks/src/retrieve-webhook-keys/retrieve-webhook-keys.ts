import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OperationContext, retrieveWebhookKeys as operation, WebhookKeySet } from '@attestry/contracts';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { WebhookKeys } from '../webhook-keys.js';

export class RetrieveWebhookKeys {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveWebhookKeys)
export class RetrieveWebhookKeysHandler implements IQueryHandler<RetrieveWebhookKeys> {
  constructor(private readonly keys: WebhookKeys) {}

  execute({ context }: RetrieveWebhookKeys): Promise<WebhookKeySet> {
    return this.keys.keySet(tenantOf(context).id);
  }
}
