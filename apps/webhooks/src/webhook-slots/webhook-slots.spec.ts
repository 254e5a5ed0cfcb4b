import { given } from '@attestry/event-store';
import {
  changeSlotUrl,
  claimSlot,
  correctSlotUrl,
  MAX_WEBHOOKS,
  MAX_WEBHOOKS_PER_URL,
  needsOwners,
  releaseSlot,
  urlKey,
  type Owners,
} from './webhook-slots.decisions.js';
import type { WebhookSlotsEvent } from './webhook-slots.events.js';
import { webhookSlots } from './webhook-slots.state.js';

const claimedAt = '2026-01-01T00:00:00.000Z';
const soon = '2026-01-01T00:00:59.999Z';
const later = '2026-01-01T00:01:00.000Z';
const urlOf = (name: string) => `https://${name}.example/hook`;
const claimed = (webhookId: string, at = claimedAt, url = urlOf(webhookId)): WebhookSlotsEvent => ({
  type: 'WebhookSlotClaimed',
  data: { webhookId, claimedAt: at, url },
});
const changed = (webhookId: string, url: string): WebhookSlotsEvent => ({
  type: 'WebhookSlotUrlChanged',
  data: { webhookId, url },
});
const released = (webhookId: string): WebhookSlotsEvent => ({ type: 'WebhookSlotReleased', data: { webhookId } });
const full = Array.from({ length: MAX_WEBHOOKS }, (_, index) => claimed(`w${index}`));
type Status = NonNullable<ReturnType<Owners['get']>>;
const claim = (now: string, w3: Status) => (state: Parameters<typeof claimSlot>[0]) => {
  const owners = new Map<string, Status>(full.map(({ data }) => [data.webhookId, 'active']));
  owners.set('w3', w3);
  return claimSlot(state, { webhookId: 'new', url: urlOf('new') }, { now, owners });
};

describe('webhook slots', () => {
  it('holds twenty and refuses the next', () => {
    given(webhookSlots, full.slice(1))
      .when(claim(soon, 'active'))
      .then([claimed('new', soon)]);
    given(webhookSlots, full).when(claim(later, 'active')).thenThrows('BadRequest');
  });

  it('claims once for the same webhook', () => {
    given(webhookSlots, [...full.slice(1), claimed('new')])
      .when(claim(later, 'active'))
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

  it('releases only claimed slots', () => {
    given(webhookSlots, full)
      .when((state) => releaseSlot(state, 'w3'))
      .then([released('w3')]);
    given(webhookSlots, full)
      .when((state) => releaseSlot(state, 'other'))
      .then([]);
  });
});

describe('webhooks with one URL', () => {
  const url = 'https://shared.example/hook';
  const ids = Array.from({ length: MAX_WEBHOOKS_PER_URL }, (_, index) => `w${index}`);
  const five = ids.map((webhookId) => claimed(webhookId, claimedAt, url));
  const other = claimed('other');
  const owners: Owners = new Map(ids.map((id) => [id, 'active']));
  const claimWith = (shared: string) => (state: State) =>
    claimSlot(state, { webhookId: 'new', url: shared }, { now: later, owners });
  const changeOther =
    (to: string, known: Owners = owners) =>
    (state: State) =>
      changeSlotUrl(state, { webhookId: 'other', url: to }, { now: later, owners: known });
  type State = Parameters<typeof claimSlot>[0];

  it('are five at most, at their creation and when they change', () => {
    given(webhookSlots, five.slice(1))
      .when(claimWith(url))
      .then([claimed('new', later, url)]);
    given(webhookSlots, five).when(claimWith(url)).thenThrows('BadRequest');
    given(webhookSlots, five)
      .when(claimWith(`${url}?other`))
      .then([claimed('new', later, `${url}?other`)]);
    given(webhookSlots, [...five.slice(1), other])
      .when(changeOther(url))
      .then([changed('other', url)]);
    given(webhookSlots, [...five, other])
      .when(changeOther(url))
      .thenThrows('BadRequest');
    try {
      claimWith(url)({ held: five.map(({ data }) => data as State['held'][number]) });
    } catch (error) {
      expect(error).toMatchObject({
        kind: 'invalid',
        details: [{ param: 'url', location: 'body', msg: 'must not be the URL of more than 5 webhooks of a tenant' }],
      });
    }
    expect.assertions(1);
  });

  it('are the same whatever the fragment, and the spelling of the host', () => {
    for (const same of [`${url}#part`, 'https://SHARED.example:443/hook', 'https://shared.example/x/../hook'])
      given(webhookSlots, five).when(claimWith(same)).thenThrows('BadRequest');
  });

  it('are counted without those that changed, were released, were deleted, or were never created', () => {
    const elsewhere = changed('w0', urlOf('elsewhere'));
    given(webhookSlots, [...five, elsewhere])
      .when(claimWith(url))
      .then([claimed('new', later, url)]);
    given(webhookSlots, [...five, released('w0')])
      .when(claimWith(url))
      .then([claimed('new', later, url)]);
    for (const status of ['deleted', 'absent'] as const)
      given(webhookSlots, [...five, other])
        .when(changeOther(url, new Map(owners).set('w1', status)))
        .then([released('w1'), changed('other', url)]);
  });

  it('are corrected to the URL of the webhook', () => {
    given(webhookSlots, five)
      .when((state) => correctSlotUrl(state, { webhookId: 'w0', url: urlOf('w0') }))
      .then([changed('w0', urlOf('w0'))]);
    given(webhookSlots, five)
      .when((state) => correctSlotUrl(state, { webhookId: 'w0', url }))
      .then([]);
  });
});

describe('slots and their webhooks', () => {
  const url = 'https://shared.example/hook';
  const slot = (webhookId: string, to = urlOf(webhookId)) => ({ webhookId, claimedAt, url: to });
  const slots = (count: number, to?: string) => Array.from({ length: count }, (_, at) => slot(`w${at}`, to));
  const unknown: Owners = new Map();

  it('need the webhooks when a limit is reached', () => {
    const needs = (held: ReturnType<typeof slot>[], webhookId = 'new') => needsOwners({ held }, { webhookId, url });
    expect(needs([slot('w0'), slot('w1')])).toBe(false);
    expect([needs(slots(MAX_WEBHOOKS - 1)), needs(slots(MAX_WEBHOOKS))]).toEqual([false, true]);
    expect([needs(slots(MAX_WEBHOOKS_PER_URL - 1, url)), needs(slots(MAX_WEBHOOKS_PER_URL, url))]).toEqual([
      false,
      true,
    ]);
    // Its own URL does not count.
    expect(needs(slots(MAX_WEBHOOKS_PER_URL, url), 'w0')).toBe(false);
  });

  it('have a URL without its fragment', () => expect(urlKey(`${url}#part`)).toBe(url));

  it('name the limit of a tenant', () =>
    expect(() =>
      claimSlot({ held: slots(MAX_WEBHOOKS) }, { webhookId: 'new', url }, { now: later, owners: unknown }),
    ).toThrow(
      expect.objectContaining({
        details: [{ msg: 'a tenant can have at most 20 webhooks', param: 'webhooks', location: 'body' }],
      }),
    ));

  it('change the URL of a slot that is held, and only to another one', () => {
    const change = (webhookId: string, to: string, held = [slot('w0'), slot('w1')]) =>
      changeSlotUrl({ held }, { webhookId, url: to }, { now: later, owners: unknown });
    expect(change('other', url)).toEqual([]);
    expect(change('w0', urlOf('w0'))).toEqual([]);
    expect(change('w0', url)).toEqual([changed('w0', url)]);
  });

  it('are not released while their URL changes', () => {
    const owners = new Map([['w0', 'absent' as const]]);
    expect(changeSlotUrl({ held: [slot('w0')] }, { webhookId: 'w0', url }, { now: later, owners })).toEqual([
      changed('w0', url),
    ]);
  });

  it('are not corrected because another slot has another URL', () =>
    expect(correctSlotUrl({ held: [slot('w0', url), slot('w1')] }, { webhookId: 'w0', url })).toEqual([]));
});
