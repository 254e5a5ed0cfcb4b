import type { Webhook } from '@attestry/contracts';
import type { ActiveWebhook } from './webhook.state.js';

/** A webhook as the API shows it. */
export const viewOf = ({ webhookId, events, url, disabled }: ActiveWebhook): Webhook => ({
  id: webhookId,
  events,
  url,
  disabled,
});
