import { retrieveWebhookKeys, type PublicContext, type WebhookKeySet } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { WebhookKeys } from '../webhook-keys/webhook-keys.js';

@Operation(retrieveWebhookKeys)
export class RetrieveWebhookKeys {
  constructor(private readonly keys: WebhookKeys) {}

  execute(_request: unknown, { tenant }: PublicContext): Promise<WebhookKeySet> {
    return this.keys.keySet(tenant.id);
  }
}
