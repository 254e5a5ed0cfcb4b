import { invalid } from '@attestry/contracts';
import type { WebhookSlotsEvent } from './webhook-slots.events.js';
import type { WebhookSlotsState } from './webhook-slots.state.js';

export const MAX_WEBHOOKS = 20;
/** A slot this old whose webhook was never created belongs to a creation that failed half-way (decision 8). */
export const ABANDONED_AFTER_MS = 60_000;

export type OwnerStatus = 'absent' | 'living' | 'deleted';

export const isFull = ({ held }: WebhookSlotsState): boolean => held.length >= MAX_WEBHOOKS;

/**
 * @param facts `owners`: what became of the webhooks that hold slots; needed only when {@link isFull}
 * @throws 400 when the tenant has as many webhooks as it may
 */
export const claimSlot = (
  state: WebhookSlotsState,
  { webhookId }: { webhookId: string },
  facts: { now: string; owners: ReadonlyMap<string, OwnerStatus> },
): WebhookSlotsEvent[] => {
  if (state.held.some((slot) => slot.webhookId === webhookId)) return [];
  const ended = isFull(state)
    ? state.held.filter((slot) => {
        const owner = facts.owners.get(slot.webhookId);
        const age = Date.parse(facts.now) - Date.parse(slot.claimedAt);
        return owner === 'deleted' || (owner === 'absent' && age >= ABANDONED_AFTER_MS);
      })
    : [];
  if (state.held.length - ended.length >= MAX_WEBHOOKS)
    throw invalid({ msg: `a tenant has at most ${MAX_WEBHOOKS} webhooks`, param: 'webhooks', location: 'body' });
  return [
    ...ended.map((slot): WebhookSlotsEvent => ({ type: 'WebhookSlotReleased', data: { webhookId: slot.webhookId } })),
    { type: 'WebhookSlotClaimed', data: { webhookId, claimedAt: facts.now } },
  ];
};

export const releaseSlot = (state: WebhookSlotsState, webhookId: string): WebhookSlotsEvent[] =>
  state.held.some((slot) => slot.webhookId === webhookId) ? [{ type: 'WebhookSlotReleased', data: { webhookId } }] : [];
