import { createHash } from 'node:crypto';
import type { WebhookEventType } from '@attestry/contracts';

/** The same for the same event and webhook, so that a retry finds the same stream. Hex, 128 bits. */
export const deliveryKeyOf = (eventId: string, webhookId: string, type: WebhookEventType): string =>
  createHash('sha256')
    .update(JSON.stringify([eventId, webhookId, type]))
    .digest('hex')
    .slice(0, 32);
