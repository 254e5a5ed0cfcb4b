import { projected } from '@attestry/testing';
import { deferredIssuances, viewOfRow } from './deferred-issuances.read-model.js';

const given = projected(deferredIssuances);
const at = (hour: number) => `2026-03-01T0${hour}:00:00.000Z`;
const deferred = (deferralId: string, { deferredAt = at(1), expiresAt = at(3), userId = 'u', sessionId = 's' } = {}) =>
  ({
    type: 'IssuanceDeferred',
    data: {
      deferralId,
      sessionId,
      userId,
      credentialConfigurationId: 'c',
      configurationVersion: 2,
      holders: [{}, {}] as never,
      deferredAt,
      needsApproval: true,
      transaction: { expiresAt },
    },
  }) as const;
const listed = (...events: Parameters<typeof given>) =>
  given(...events).rows.issuance_deferred.map((row) => viewOfRow(row as never));
const view = {
  id: 'd',
  state: 'PENDING',
  credentialConfigurationId: 'c',
  credentialConfigurationVersion: 2,
  userId: 'u',
  sessionId: 's',
  credentials: 2,
  createdAt: at(1),
  expiresAt: at(3),
};

describe('the list of deferred issuances', () => {
  it('has each with its state', () => {
    expect(listed(deferred('d'))).toEqual([view]);
    const { data } = deferred('d');
    const offered = { ...data, needsApproval: false, offerId: 'o', credentialIdentifier: 'i' };
    expect(listed({ type: 'IssuanceDeferred', data: offered })).toEqual([
      { ...view, state: 'APPROVED', offerId: 'o', credentialIdentifier: 'i' },
    ]);
    for (const [type, state] of [
      ['DeferredIssuanceApproved', 'APPROVED'],
      ['DeferredIssuanceDenied', 'DENIED'],
      ['DeferredIssuanceCompleted', 'ISSUED'],
    ] as const)
      expect(listed(deferred('d'), { type, data: { deferralId: 'd' } })).toEqual([{ ...view, state }]);
  });

  it('loses those that have expired with the next one of the tenant', () => {
    const next = deferred('e', { deferredAt: at(4), expiresAt: at(6) });
    expect(listed(deferred('d'), { ...next, of: { tenantId: 't2' } }).map(({ id }) => id)).toEqual(['d', 'e']);
    expect(listed(deferred('d'), next).map(({ id }) => id)).toEqual(['e']);
    expect(listed(deferred('d', { expiresAt: at(4) }), next).map(({ id }) => id)).toEqual(['d', 'e']);
  });

  it('loses those of a session that ended, and of a user who did', () => {
    const others = deferred('e', { userId: 'u2', sessionId: 's2' });
    for (const type of ['AuthorizationCodeReplayed', 'TokensRevoked', 'PreAuthorizedOfferDeleted'] as const)
      expect(listed(deferred('d'), others, { type, data: { sessionId: 's' } }).map(({ id }) => id)).toEqual(['e']);
    for (const type of ['UserDeleted', 'UserExpired'] as const)
      expect(listed(deferred('d'), others, { type, data: { userId: 'u' } }).map(({ id }) => id)).toEqual(['e']);
  });
});
