import { retrieveWebhookKeys, type OperationContext, type WebhookKeySet } from '@attestry/contracts';
import { Operation, tenantOf } from '@attestry/service-kit';
import { WebhookKeys } from '../webhook-keys/webhook-keys.js';

@Operation(retrieveWebhookKeys)
export class RetrieveWebhookKeys {
  constructor(private readonly keys: WebhookKeys) {}

  execute(_request: unknown, context: OperationContext): Promise<WebhookKeySet> {
    return this.keys.keySet(tenantOf(context).id);
  }
}
