import { given, stateAfter } from '@attestry/event-store';
import type { Grant } from '../../sessions/issuance-session/issuance-session.events.js';
import { beginFamily, endFamily } from './token-family.decisions.js';
import type { TokenFamilyEvent } from './token-family.events.js';
import { tokenFamily, tokenFamilyStream, type TokenFamilyState } from './token-family.state.js';

const after = (events: TokenFamilyEvent[]) => given<TokenFamilyState, TokenFamilyEvent>(tokenFamily, events);
const now = new Date('2026-05-01T10:00:00.000Z');
const refreshToken: Grant = {
  ...{ tokenId: 't1', kind: 'refresh', mac: 'mac', keyId: 'p1' },
  expiresAt: '2026-05-31T10:00:00.000Z',
};
const family = { familyId: 'f1', sessionId: 's1', userId: 'u1', clientId: 'wallet', jkt: 'thumbprint', refreshToken };
const began: TokenFamilyEvent = { type: 'TokenFamilyBegan', data: { ...family, beganAt: now.toISOString() } };
const ended: TokenFamilyEvent = {
  type: 'TokenFamilyEnded',
  data: { familyId: 'f1', sessionId: 's1', reason: 'revoked', endedAt: now.toISOString() },
};

describe('a token family', () => {
  it('begins once and ends once: two events [T350]', () => {
    after([])
      .when((state) => beginFamily(state, family, now))
      .then([began]);
    after([began])
      .when((state) => endFamily(state, 'revoked', now))
      .then([ended]);
    for (const events of [[], [began, ended]])
      after(events)
        .when((state) => endFamily(state, 'personDeleted', now))
        .then([]);
    expect(() => beginFamily(stateAfter(tokenFamily, [began]), family, now)).toThrow('exists already');
  });

  it('has an epoch that its end changes, and keeps no secret then [T351]', () => {
    expect(stateAfter(tokenFamily, [began])).toEqual({ status: 'active', epoch: 1, ...family });
    expect(stateAfter(tokenFamily, [began, ended])).toEqual({
      ...{ status: 'ended', epoch: 2, familyId: 'f1', sessionId: 's1' },
    });
    expect(tokenFamilyStream('t', 'f')).toBe('tokenFamily-t+f');
  });
});
