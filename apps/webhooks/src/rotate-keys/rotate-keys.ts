import { notFound, rotateWebhookKeys, type ClientContext, type WebhookKeyRotation } from '@attestry/contracts';
import { KeyNotFound } from '@attestry/keys';
import { eventContext, Operation } from '@attestry/service-kit';
import { WebhookKeys } from '../webhook-keys/webhook-keys.js';

@Operation(rotateWebhookKeys)
export class RotateKeys {
  constructor(private readonly keys: WebhookKeys) {}

  async execute(_request: unknown, context: ClientContext): Promise<WebhookKeyRotation> {
    try {
      return await this.keys.rotate(context.tenant.id, eventContext(context));
    } catch (error) {
      // The tenant is being deleted.
      if (error instanceof KeyNotFound) throw notFound();
      throw error;
    }
  }
}
