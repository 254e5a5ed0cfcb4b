import { conflict, invalidBody, notFound, type WebhookEvent } from '@attestry/contracts';
import type { WebhookDomainEvent } from './webhook.events.js';
import type { ActiveWebhook, WebhookState } from './webhook.state.js';

/** Result of the rules for outbound targets for a URL: its ASCII form, or the error. */
export type CheckedTarget = { url: string } | { fault: string };

/** @throws 400 on `url` */
export const acceptedUrl = (text: string, target: CheckedTarget): string => {
  if ('fault' in target) throw invalidBody('url', target.fault, text);
  return target.url;
};

/** @throws 404 when it does not exist or was deleted */
export const activeWebhook = (state: WebhookState): ActiveWebhook => {
  if (state.status !== 'active') throw notFound();
  return state;
};

/** For sending on demand. @throws 404, or 409 when it is disabled: then nothing is sent */
export const enabled = (state: WebhookState): ActiveWebhook => {
  const webhook = activeWebhook(state);
  if (webhook.disabled) throw conflict('The webhook is disabled');
  return webhook;
};

/** @param command `url` as {@link acceptedUrl} returned it */
export const createWebhook = (
  state: WebhookState,
  command: { webhookId: string; url: string; events: WebhookEvent[]; disabled?: boolean },
  facts: { now: string },
): WebhookDomainEvent[] => {
  if (state.status !== 'absent') return [];
  const { webhookId, url, events, disabled = false } = command;
  return [{ type: 'WebhookCreated', data: { webhookId, url, events, disabled, createdAt: facts.now } }];
};

/** Full replacement; an absent `disabled` keeps its value. One event for each change. @throws 404 */
export const updateWebhook = (
  state: WebhookState,
  command: { url: string; events: WebhookEvent[]; disabled?: boolean },
): WebhookDomainEvent[] => {
  const { webhookId, ...current } = activeWebhook(state);
  const { url, events, disabled = current.disabled } = command;
  const changes: WebhookDomainEvent[] = [];
  if (url !== current.url) changes.push({ type: 'WebhookUrlChanged', data: { webhookId, url } });
  if (events.length !== current.events.length || events.some((name, index) => name !== current.events[index]))
    changes.push({ type: 'WebhookEventsChanged', data: { webhookId, events, disabled: current.disabled } });
  if (disabled !== current.disabled)
    changes.push({ type: disabled ? 'WebhookDisabled' : 'WebhookEnabled', data: { webhookId, events } });
  return changes;
};

/** @throws 404, also the second time */
export const deleteWebhook = (state: WebhookState): WebhookDomainEvent[] => [
  { type: 'WebhookDeleted', data: { webhookId: activeWebhook(state).webhookId } },
];
