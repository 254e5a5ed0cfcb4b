import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  notFound,
  type OperationContext,
  type rotateWebhookKeys as operation,
  type WebhookKeyRotation,
} from '@attestry/contracts';
import { KeyNotFound } from '@attestry/keys';
import { eventContext, tenantOf, type RequestOf } from '@attestry/service-kit';
import { WebhookKeys } from '../webhook-keys.js';

export class RotateKeys {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@CommandHandler(RotateKeys)
export class RotateKeysHandler implements ICommandHandler<RotateKeys> {
  constructor(private readonly keys: WebhookKeys) {}

  async execute({ context }: RotateKeys): Promise<WebhookKeyRotation> {
    try {
      return await this.keys.rotate(tenantOf(context).id, eventContext(context));
    } catch (error) {
      // The tenant is being deleted.
      if (error instanceof KeyNotFound) throw notFound();
      throw error;
    }
  }
}
