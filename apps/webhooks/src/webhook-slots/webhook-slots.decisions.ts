import { invalid, invalidBody } from '@attestry/contracts';
import { ABANDONED_AFTER_MS } from '@attestry/event-store';
import type { WebhookSlotsEvent } from './webhook-slots.events.js';
import type { WebhookSlot, WebhookSlotsState } from './webhook-slots.state.js';

export const MAX_WEBHOOKS = 20;
/** Each event is delivered once to every webhook: more than a few with one URL only multiply requests to it. */
export const MAX_WEBHOOKS_PER_URL = 5;

/** By webhook id, as its own stream has it. */
export type Owners = ReadonlyMap<string, 'absent' | 'deleted' | 'active'>;

/** Common form of URLs with the same target: the fragment is never sent (RFC 9110 §4.2.5). */
export const urlKey = (url: string): string => {
  const key = new URL(url);
  key.hash = '';
  return key.href;
};

/** Whether a decision about `url` needs the webhooks themselves: a limit is reached, and slots of deleted webhooks may be released. */
export const needsOwners = ({ held }: WebhookSlotsState, command: { webhookId: string; url: string }): boolean =>
  held.length >= MAX_WEBHOOKS || sharing(held, command).length >= MAX_WEBHOOKS_PER_URL;

const sharing = (
  held: readonly WebhookSlot[],
  { webhookId, url }: { webhookId: string; url: string },
): WebhookSlot[] => {
  const key = urlKey(url);
  return held.filter((slot) => slot.webhookId !== webhookId && urlKey(slot.url) === key);
};

interface SlotFacts {
  /** RFC 3339. */
  now: string;
  /** The webhooks that hold slots; read only when {@link needsOwners}. */
  owners: Owners;
}

const hasEnded = (slot: WebhookSlot, { now, owners }: SlotFacts): boolean => {
  const status = owners.get(slot.webhookId);
  return (
    status === 'deleted' || (status === 'absent' && Date.parse(now) - Date.parse(slot.claimedAt) >= ABANDONED_AFTER_MS)
  );
};

const checkUrlIsFree = (held: readonly WebhookSlot[], command: { webhookId: string; url: string }): void => {
  if (sharing(held, command).length >= MAX_WEBHOOKS_PER_URL)
    throw invalidBody(
      'url',
      `must not be the URL of more than ${MAX_WEBHOOKS_PER_URL} webhooks of a tenant`,
      command.url,
    );
};

const released = (ended: readonly WebhookSlot[]): WebhookSlotsEvent[] =>
  ended.map(({ webhookId }) => ({ type: 'WebhookSlotReleased', data: { webhookId } }));

/** @throws 400 when the tenant has the maximum number of webhooks, or of those with this URL */
export const claimSlot = (
  state: WebhookSlotsState,
  command: { webhookId: string; url: string },
  facts: SlotFacts,
): WebhookSlotsEvent[] => {
  const { webhookId, url } = command;
  if (state.held.some((slot) => slot.webhookId === webhookId)) return [];
  const ended = state.held.filter((slot) => hasEnded(slot, facts));
  const held = state.held.filter((slot) => !ended.includes(slot));
  if (held.length >= MAX_WEBHOOKS)
    throw invalid({ msg: `a tenant can have at most ${MAX_WEBHOOKS} webhooks`, param: 'webhooks', location: 'body' });
  checkUrlIsFree(held, command);
  return [...released(ended), { type: 'WebhookSlotClaimed', data: { webhookId, claimedAt: facts.now, url } }];
};

/** Sets the URL of a slot before its webhook gets it. @throws 400 on `url` when the maximum number of webhooks have it */
export const changeSlotUrl = (
  state: WebhookSlotsState,
  command: { webhookId: string; url: string },
  facts: SlotFacts,
): WebhookSlotsEvent[] => {
  const { webhookId, url } = command;
  const slot = state.held.find((it) => it.webhookId === webhookId);
  if (!slot || slot.url === url) return [];
  const changed: WebhookSlotsEvent = { type: 'WebhookSlotUrlChanged', data: { webhookId, url } };
  const ended = state.held.filter((it) => it !== slot && hasEnded(it, facts));
  checkUrlIsFree(
    state.held.filter((it) => !ended.includes(it)),
    command,
  );
  return [...released(ended), changed];
};

/** Corrects a slot whose webhook has another URL: concurrent updates may reach the two streams in different order. */
export const correctSlotUrl = (
  { held }: WebhookSlotsState,
  { webhookId, url }: { webhookId: string; url: string },
): WebhookSlotsEvent[] =>
  held.some((slot) => slot.webhookId === webhookId && slot.url !== url)
    ? [{ type: 'WebhookSlotUrlChanged', data: { webhookId, url } }]
    : [];

export const releaseSlot = (state: WebhookSlotsState, webhookId: string): WebhookSlotsEvent[] =>
  state.held.some((slot) => slot.webhookId === webhookId) ? [{ type: 'WebhookSlotReleased', data: { webhookId } }] : [];
