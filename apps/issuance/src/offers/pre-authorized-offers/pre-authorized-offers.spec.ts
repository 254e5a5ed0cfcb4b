import { projected } from '@attestry/testing';
import { preAuthorizedOffers } from './pre-authorized-offers.read-model.js';

const given = projected(preAuthorizedOffers);
const at = (minute: number) => `2026-03-01T00:0${minute}:00.000Z`;
const of = { id: 's' };
const created = {
  type: 'PreAuthorizedOfferCreated',
  data: {
    sessionId: 's',
    userId: 'u',
    entries: [{ credentialConfigurationId: 'c', scope: 'c' }],
    code: { expiresAt: at(5) },
    createdAt: at(0),
  },
  of,
} as const;
const issued = (n: number, offerId: string | undefined = 's') =>
  ({
    type: 'CredentialIssued',
    data: {
      credentialId: `i${n}`,
      offerId,
      credentialConfigurationId: 'c',
      credentialType: 'T',
      format: 'jwt_vc_json',
      issuedAt: at(1),
    },
    of,
  }) as const;
const record = (...events: Parameters<typeof given>) =>
  given(created, ...events).rows.issuance_offers.map((row) => JSON.parse(row['record'] as string) as object);
const first = {
  id: 's',
  userId: 'u',
  createdAt: at(0),
  credentials: ['c'],
  expiresAt: at(5),
  progress: 'CREATED',
  endsAt: at(5),
  issued: [],
};

describe('the list of pre-authorized offers', () => {
  it('has each with what happened to it', () => {
    given(created).expectRows({
      issuance_offers: [{ tenant_id: 't1', id: 's', user_id: 'u', created_at: at(0), record: JSON.stringify(first) }],
    });
    const redeemed = { type: 'PreAuthorizedCodeRedeemed', data: { accessToken: { expiresAt: at(8) } }, of } as const;
    expect(record(redeemed)).toEqual([{ ...first, progress: 'REDEEMED', endsAt: at(8) }]);
    expect(record(redeemed, issued(1), { type: 'TokensRevoked', data: { revokedAt: at(2) }, of })).toEqual([
      {
        ...first,
        progress: 'CLAIMED',
        endsAt: at(2),
        issued: [{ id: 'i1', credentialConfigurationId: 'c', type: 'T', format: 'jwt_vc_json', issuedDate: at(1) }],
      },
    ]);
    expect(record({ type: 'SessionLocked', data: {}, of })).toEqual([{ ...first, progress: 'LOCKED' }]);
    expect(record({ type: 'PreAuthorizedOfferDeleted', data: {}, of })).toEqual([{ ...first, progress: 'DELETED' }]);
    expect(record({ type: 'IssuanceDeferred', data: { openUntil: at(9) }, of })).toEqual([
      { ...first, openUntil: at(9) },
    ]);
  });

  it('has ten credentials of an offer, and none of another', () => {
    const [{ issued: some }] = record(...Array.from({ length: 12 }, (_, n) => issued(n))) as [{ issued: object[] }];
    expect(some).toHaveLength(10);
    expect(record(issued(1, 'other'))).toEqual([first]);
  });

  it('has no sessions of the authorization code flow, and no offers of a deleted user', () => {
    given(
      { type: 'AuthorizationGranted', data: {}, of: { id: 'a' } },
      { type: 'TokensRevoked', data: { revokedAt: at(2) }, of: { id: 'a' } },
    ).expectRows({});
    const other = { ...created, data: { ...created.data, userId: 'u2' }, of: { id: 's2' } };
    const left = given(created, other, { type: 'UserDeleted', data: { userId: 'u' } }, issued(1)).rows.issuance_offers;
    expect(left.map(({ id }) => id)).toEqual(['s2']);
  });
});
