import { given } from '@attestry/event-store';
import { claimSlot, MAX_WEBHOOKS, releaseSlot, type OwnerStatus } from './webhook-slots.decisions.js';
import type { WebhookSlotsEvent } from './webhook-slots.events.js';
import { webhookSlots } from './webhook-slots.state.js';

const claimedAt = '2026-01-01T00:00:00.000Z';
const soon = '2026-01-01T00:00:59.999Z';
const later = '2026-01-01T00:01:00.000Z';
const claimed = (webhookId: string, at = claimedAt): WebhookSlotsEvent => ({
  type: 'WebhookSlotClaimed',
  data: { webhookId, claimedAt: at },
});
const released = (webhookId: string): WebhookSlotsEvent => ({ type: 'WebhookSlotReleased', data: { webhookId } });
const full = Array.from({ length: MAX_WEBHOOKS }, (_, index) => claimed(`w${index}`));
const claim = (now: string, w3: OwnerStatus) => (state: Parameters<typeof claimSlot>[0]) => {
  const owners = new Map(full.map(({ data }) => [data.webhookId, 'living' as OwnerStatus]));
  return claimSlot(state, { webhookId: 'new' }, { now, owners: owners.set('w3', w3) });
};

describe('webhook slots', () => {
  it('holds twenty and refuses the next', () => {
    given(webhookSlots, full.slice(1))
      .when(claim(soon, 'living'))
      .then([claimed('new', soon)]);
    given(webhookSlots, full).when(claim(later, 'living')).thenThrows('BadRequest');
  });

  it('claims once for the same webhook', () => {
    given(webhookSlots, [...full.slice(1), claimed('new')])
      .when(claim(later, 'living'))
      .then([]);
  });

  it('takes over the slot of a deleted webhook at once, and of one never created after a minute', () => {
    given(webhookSlots, full)
      .when(claim(soon, 'deleted'))
      .then([released('w3'), claimed('new', soon)]);
    given(webhookSlots, full).when(claim(soon, 'absent')).thenThrows('BadRequest');
    given(webhookSlots, full)
      .when(claim(later, 'absent'))
      .then([released('w3'), claimed('new', later)]);
  });

  it('releases what is held and nothing else', () => {
    given(webhookSlots, full)
      .when((state) => releaseSlot(state, 'w3'))
      .then([released('w3')]);
    given(webhookSlots, full)
      .when((state) => releaseSlot(state, 'other'))
      .then([]);
  });
});
