import { given, stateAfter } from '@attestry/event-store';
import { createKey, destroyReplacedKeys, isKeyAccepted, isKeyDue } from './encryption-keys.decisions.js';
import type { EncryptionKeysEvent } from './encryption-keys.events.js';
import { encryptionKeys, type EncryptionKeysState } from './encryption-keys.state.js';

const DAY_MS = 86_400_000;
const at = (days: number, ms = 0) => new Date(Date.UTC(2026, 0, 1) + days * DAY_MS + ms);
const after = (...events: EncryptionKeysEvent[]) =>
  given<EncryptionKeysState, EncryptionKeysEvent>(encryptionKeys, events);
const stateOf = (...events: EncryptionKeysEvent[]) =>
  stateAfter<EncryptionKeysState, EncryptionKeysEvent>(encryptionKeys, events);
const made = (n: number, days: number): EncryptionKeysEvent => ({
  type: 'EncryptionKeyCreated',
  data: {
    keyId: `k${n}`,
    x: 'x',
    y: 'y',
    createdAt: at(days).toISOString(),
    dueAt: at(days + 30).toISOString(),
    ...(n > 1 && { replacedKeyId: `k${n - 1}` }),
  },
});
const destroyed = (n: number): EncryptionKeysEvent => ({ type: 'EncryptionKeyDestroyed', data: { keyId: `k${n}` } });
const create = (n: number, now: Date) => (state: EncryptionKeysState) =>
  createKey(state, { keyId: `k${n}`, x: 'x', y: 'y', now });

describe('encryption keys [T310]', () => {
  it('are replaced after 30 days', () => {
    after()
      .when(create(1, at(0)))
      .then([made(1, 0)]);
    after(made(1, 0))
      .when(create(2, at(30, -1)))
      .then([]);
    after(made(1, 0))
      .when(create(2, at(30)))
      .then([made(2, 30)]);
    expect([isKeyDue(stateOf(), at(0)), isKeyDue(stateOf(made(1, 0)), at(30, -1))]).toEqual([true, false]);
  });

  it('are accepted for a day after they were replaced, then destroyed', () => {
    const state = stateOf(made(1, 0), made(2, 30));
    const accepted = (keyId: string, now: Date) => isKeyAccepted(state, keyId, now);
    expect(accepted('k1', at(31, -1))).toBe(true);
    expect(accepted('k1', at(31))).toBe(false);
    expect(accepted('k2', at(500))).toBe(true);
    expect(accepted('unknown', at(30))).toBe(false);
    const both = after(made(1, 0), made(2, 30));
    both.when((keys) => destroyReplacedKeys(keys, at(31, -1))).then([]);
    both.when((keys) => destroyReplacedKeys(keys, at(31))).then([destroyed(1)]);
    after(made(1, 0), made(2, 30), destroyed(1))
      .when((keys) => destroyReplacedKeys(keys, at(500)))
      .then([]);
    expect(stateOf(made(1, 0), made(2, 30), destroyed(1)).map(({ keyId }) => keyId)).toEqual(['k2']);
  });
});
