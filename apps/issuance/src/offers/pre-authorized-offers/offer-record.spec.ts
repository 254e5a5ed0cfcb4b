import type { IssuanceSessionEvent } from '../../sessions/issuance-session/issuance-session.events.js';
import { offerStatus, recordAfter, type OfferRecord } from './offer-record.js';

const minute = (n: number) => new Date(Date.UTC(2026, 4, 1, 10, n)).toISOString();
const event = (type: IssuanceSessionEvent['type'], data: object = {}) => ({ type, data }) as IssuanceSessionEvent;
const created = event('PreAuthorizedOfferCreated', {
  ...{ sessionId: 'o1', userId: 'u1', createdAt: minute(0), code: { expiresAt: minute(5), mac: 'secret' } },
  entries: [{ credentialConfigurationId: 'c1', scope: 's' }],
  sealedClaims: 'secret',
});
const redeemed = event('PreAuthorizedCodeRedeemed', { accessToken: { expiresAt: minute(7), mac: 'secret' } });
const issued = event('CredentialIssued', { credentialId: 'k1', issuedAt: minute(6) });
const deferred = event('IssuanceDeferred', { openUntil: minute(30) });
const statusAt = (at: number, ...events: IssuanceSessionEvent[]) => {
  const record = events.reduce<OfferRecord | undefined>((before, one) => recordAfter(before, one, 2), undefined);
  return offerStatus(record!, new Date(minute(at)));
};

it.each<[string, number, IssuanceSessionEvent[]]>([
  ['CREATED', 4, [created]],
  ['EXPIRED', 5, [created]],
  ['CREATED', 4, [created, event('TransactionCodeRefused')]],
  ['LOCKED', 9, [created, event('SessionLocked')]],
  ['DELETED', 9, [created, event('PreAuthorizedOfferDeleted')]],
  ['REDEEMED', 6, [created, redeemed]],
  ['EXPIRED', 7, [created, redeemed]],
  ['CLAIMED', 9, [created, redeemed, issued]],
  ['EXPIRED', 6, [created, redeemed, event('TokensRevoked', { revokedAt: minute(6) })]],
  ['CLAIMED', 6, [created, redeemed, issued, event('TokensRevoked', { revokedAt: minute(6) })]],
  ['REDEEMED', 29, [created, redeemed, deferred]],
  ['EXPIRED', 30, [created, redeemed, deferred]],
  ['EXPIRED', 8, [created, redeemed, deferred, event('DeferredIssuanceDenied')]],
  ['REDEEMED', 8, [created, redeemed, deferred, event('DeferredIssuanceDenied', { openUntil: minute(9) })]],
  ['CLAIMED', 40, [created, redeemed, deferred, issued, event('DeferredIssuanceCompleted')]],
])('is %s at minute %d [T446]', (state, at, events) => expect(statusAt(at, ...events).state).toBe(state));

it('shows what was issued, up to a number, and no secret [T447]', () => {
  const shown = statusAt(9, created, redeemed, issued, issued, issued);
  expect(shown).toMatchObject({ id: 'o1', userId: 'u1', credentials: ['c1'], expiresAt: minute(5) });
  expect(shown.issuedCredentials).toHaveLength(2);
  expect(JSON.stringify(shown)).not.toContain('secret');
});

it('is none for a session of the authorization code flow', () =>
  expect(recordAfter(undefined, event('AuthorizationGranted'), 2)).toBeUndefined());
