import { publishedAt, signingKeyAt } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import { chooseKey, endKeys, retireKeys, rotateKey } from './webhook-keys.decisions.js';
import type { WebhookKeysEvent } from './webhook-keys.events.js';
import { webhookKeys, type WebhookKeysState } from './webhook-keys.state.js';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const after = (...events: WebhookKeysEvent[]) => given<WebhookKeysState, WebhookKeysEvent>(webhookKeys, events);
const chosen: WebhookKeysEvent = { type: 'WebhookKeyCreated', data: { keyId: 'k1', createdAt: at(0) } };
const rotated = (n: number, seconds: number): WebhookKeysEvent => ({
  type: 'WebhookKeyRotated',
  data: {
    keyId: `k${n}`,
    previousKeyId: `k${n - 1}`,
    rotatedAt: at(seconds),
    signsFrom: at(seconds + 10),
    overlapEndsAt: at(seconds + 110),
  },
});
const retired = (n: number): WebhookKeysEvent => ({ type: 'WebhookKeyRetired', data: { keyId: `k${n}` } });
const ended: WebhookKeysEvent = { type: 'WebhookKeysEnded', data: {} };
const times = { leadSeconds: 10, overlapSeconds: 100 };
const rotate = (n: number, seconds: number) => (state: WebhookKeysState) =>
  rotateKey(state, { keyId: `k${n}` }, { now: at(seconds), ...times });
const keysAfter = (...events: WebhookKeysEvent[]) => {
  const state = stateAfter<WebhookKeysState, WebhookKeysEvent>(webhookKeys, events);
  return state.status === 'active' ? state.keys : [];
};

describe('webhook keys', () => {
  it('start with one that signs at once', () => {
    const choose = (state: WebhookKeysState) => chooseKey(state, { keyId: 'k1' }, { now: at(0) });
    after().when(choose).then([chosen]);
    for (const events of [[chosen], [chosen, ended]])
      after(...events)
        .when(choose)
        .then([]);
    expect(signingKeyAt(keysAfter(chosen), at(0)).keyId).toBe('k1');
    // A lagging clock does not prevent signing.
    expect(signingKeyAt(keysAfter(chosen), at(-1)).keyId).toBe('k1');
  });

  it('are published before and after they sign', () => {
    after(chosen)
      .when(rotate(2, 50))
      .then([rotated(2, 50)]);
    const keys = keysAfter(chosen, rotated(2, 50));
    const ids = (seconds: number) => publishedAt(keys, at(seconds)).map(({ keyId }) => keyId);
    expect(signingKeyAt(keys, at(59.999)).keyId).toBe('k1');
    expect(signingKeyAt(keys, at(60)).keyId).toBe('k2');
    expect(ids(50)).toEqual(['k1', 'k2']);
    expect(ids(159.999)).toEqual(['k1', 'k2']);
    expect(ids(160)).toEqual(['k2']);
  });

  it('are rotated one after the other', () => {
    after(chosen, rotated(2, 50)).when(rotate(3, 59.999)).then([]);
    after(chosen, rotated(2, 50))
      .when(rotate(3, 60))
      .then([rotated(3, 60)]);
    expect(publishedAt(keysAfter(chosen, rotated(2, 50), rotated(3, 60)), at(61))).toHaveLength(3);
    after().when(rotate(2, 50)).thenThrows('NotFound');
    after(chosen, ended).when(rotate(2, 50)).thenThrows('NotFound');
  });

  it('are retired at the end of their overlap, the newest never', () => {
    const retire = (seconds: number) => (state: WebhookKeysState) => retireKeys(state, { now: at(seconds) });
    after(chosen).when(retire(1e9)).then([]);
    const twice = after(chosen, rotated(2, 50), rotated(3, 60));
    twice.when(retire(159)).then([]);
    twice.when(retire(160)).then([retired(1)]);
    twice.when(retire(170)).then([retired(1), retired(2)]);
    expect(keysAfter(chosen, rotated(2, 50), retired(1)).map(({ keyId }) => keyId)).toEqual(['k2']);
  });

  it('end with their tenant', () => {
    after(chosen).when(endKeys).then([ended]);
    after(chosen, ended).when(endKeys).then([]);
    after().when(endKeys).then([]);
    after(chosen, ended)
      .when((state) => retireKeys(state, { now: at(999) }))
      .then([]);
  });
});
