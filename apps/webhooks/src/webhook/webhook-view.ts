import type { Webhook } from '@attestry/contracts';
import type { LivingWebhook } from './webhook.state.js';

/** A webhook as the API shows it. */
export const viewOf = ({ webhookId, events, url, disabled }: LivingWebhook): Webhook => ({
  id: webhookId,
  events,
  url,
  disabled,
});
