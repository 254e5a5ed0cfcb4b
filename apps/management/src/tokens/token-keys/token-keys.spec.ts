import { publishedAt, signingKeyAt } from '@attestry/contracts';
import { given, stateAfter } from '@attestry/event-store';
import { chooseTokenKey, isTokenKeyDue, retireTokenKeys, rotateTokenKey } from './token-keys.decisions.js';
import type { TokenKeysEvent } from './token-keys.events.js';
import { tokenKeys, type TokenKeysState } from './token-keys.state.js';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const after = (...events: TokenKeysEvent[]) => given<TokenKeysState, TokenKeysEvent>(tokenKeys, events);
const stateOf = (...events: TokenKeysEvent[]) => stateAfter<TokenKeysState, TokenKeysEvent>(tokenKeys, events);
const keysOf = (...events: TokenKeysEvent[]) => {
  const state = stateOf(...events);
  return state.status === 'active' ? state.keys : [];
};

const chosen: TokenKeysEvent = { type: 'TokenKeyCreated', data: { keyId: 'k1', createdAt: at(0) } };
/** Lead 10 s, life of a token with the margin 100 s. */
const rotated = (n: number, seconds: number): TokenKeysEvent => ({
  type: 'TokenKeyRotated',
  data: {
    keyId: `k${n}`,
    previousKeyId: `k${n - 1}`,
    rotatedAt: at(seconds),
    signsFrom: at(seconds + 10),
    overlapEndsAt: at(seconds + 110),
  },
});
const rotate = (n: number, seconds: number) => (state: TokenKeysState) =>
  rotateTokenKey(state, { keyId: `k${n}` }, { now: at(seconds), leadSeconds: 10, overlapSeconds: 100 });

describe('token keys', () => {
  it('start with one that signs at once, created once', () => {
    const choose = (state: TokenKeysState) => chooseTokenKey(state, { keyId: 'k1' }, { now: at(0) });
    after().when(choose).then([chosen]);
    after(chosen).when(choose).then([]);
    expect(signingKeyAt(keysOf(chosen), at(0)).keyId).toBe('k1');
  });

  it('are published before they sign, and until the last token signed with them has expired', () => {
    after(chosen)
      .when(rotate(2, 50))
      .then([rotated(2, 50)]);
    const keys = keysOf(chosen, rotated(2, 50));
    const published = (seconds: number) => publishedAt(keys, at(seconds)).map(({ keyId }) => keyId);
    expect(signingKeyAt(keys, at(59.999)).keyId).toBe('k1');
    expect(signingKeyAt(keys, at(60)).keyId).toBe('k2');
    expect(published(50)).toEqual(['k1', 'k2']);
    expect(published(159.999)).toEqual(['k1', 'k2']);
    expect(published(160)).toEqual(['k2']);
  });

  it('are rotated one after the other: nothing happens while a rotation is in progress', () => {
    after(chosen, rotated(2, 50)).when(rotate(3, 59.999)).then([]);
    after(chosen, rotated(2, 50))
      .when(rotate(3, 60))
      .then([rotated(3, 60)]);
    after().when(rotate(2, 50)).then([]);
  });

  it('are retired at the end of their overlap, the newest never', () => {
    const retire = (seconds: number) => (state: TokenKeysState) => retireTokenKeys(state, { now: at(seconds) });
    after().when(retire(1e9)).then([]);
    after(chosen).when(retire(1e9)).then([]);
    after(chosen, rotated(2, 50)).when(retire(159.999)).then([]);
    after(chosen, rotated(2, 50))
      .when(retire(160))
      .then([{ type: 'TokenKeyRetired', data: { keyId: 'k1' } }]);
    expect(
      keysOf(chosen, rotated(2, 50), { type: 'TokenKeyRetired', data: { keyId: 'k1' } }).map(({ keyId }) => keyId),
    ).toEqual(['k2']);
  });

  it('are due for rotation by the time since the newest signs', () => {
    const day = 86_400;
    expect(isTokenKeyDue(stateOf(chosen), 90, at(90 * day - 1))).toBe(false);
    expect(isTokenKeyDue(stateOf(chosen), 90, at(90 * day))).toBe(true);
    expect(isTokenKeyDue(stateOf(chosen), 0, at(90 * day))).toBe(false);
    expect(isTokenKeyDue(stateOf(chosen, rotated(2, 50)), 90, at(90 * day + 59))).toBe(false);
    expect(isTokenKeyDue(stateOf(), 90, at(1e9))).toBe(false);
  });
});
