import { given } from '@attestry/event-store';
import { revokeToken } from './revoked-token.decisions.js';
import type { RevokedTokenEvent } from './revoked-token.events.js';
import { revokedToken, type RevokedTokenState } from './revoked-token.state.js';

const NOW = '2026-01-01T00:00:00.000Z';
const token = { tokenId: 't', clientId: 'c', expiresAt: '2026-01-01T04:00:00.000Z' };
const revoked: RevokedTokenEvent = { type: 'TokenRevoked', data: { ...token, revokedAt: NOW } };
const after = (...events: RevokedTokenEvent[]) => given<RevokedTokenState, RevokedTokenEvent>(revokedToken, events);
const revoke =
  (clientId = 'c', now = NOW) =>
  (state: RevokedTokenState) =>
    revokeToken(state, { token, clientId }, { now });

describe('a token', () => {
  it('is revoked by its client, once', () => {
    after().when(revoke()).then([revoked]);
    after(revoked).when(revoke()).then([]);
  });

  it('is not revoked by another client', () => {
    after().when(revoke('other')).then([]);
  });

  it('is not revoked after it has expired', () => {
    after().when(revoke('c', token.expiresAt)).then([]);
  });
});
