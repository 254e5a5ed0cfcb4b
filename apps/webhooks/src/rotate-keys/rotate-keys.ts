import { notFound, rotateWebhookKeys, type OperationContext, type WebhookKeyRotation } from '@attestry/contracts';
import { KeyNotFound } from '@attestry/keys';
import { eventContext, Operation, tenantOf } from '@attestry/service-kit';
import { WebhookKeys } from '../webhook-keys/webhook-keys.js';

@Operation(rotateWebhookKeys)
export class RotateKeys {
  constructor(private readonly keys: WebhookKeys) {}

  async execute(_request: unknown, context: OperationContext): Promise<WebhookKeyRotation> {
    try {
      return await this.keys.rotate(tenantOf(context).id, eventContext(context));
    } catch (error) {
      // The tenant is being deleted.
      if (error instanceof KeyNotFound) throw notFound();
      throw error;
    }
  }
}
