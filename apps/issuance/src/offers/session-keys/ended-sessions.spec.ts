import { projected } from '@attestry/testing';
import { sessionKeys, type SessionKeyTables } from './session-keys.js';

const given = projected(sessionKeys);
const at = (minute: number) => `2026-03-01T00:0${minute}:00.000Z`;
const of = { id: 's' };
const storedClaims = { keyId: 's' };
const offer = (data: object) =>
  ({
    type: 'PreAuthorizedOfferCreated',
    data: { sessionId: 's', userId: 'u', code: { expiresAt: at(1) }, ...data },
    of,
  }) as const;
const row: SessionKeyTables['issuance_session_keys'] = {
  tenant_id: 't1',
  session_id: 's',
  rights_end_at: at(1),
  deferred_until: '',
  new_user_id: null,
};
type Row = Partial<typeof row>;
const expectRow = (values: Row, ...events: Parameters<typeof given>) =>
  given(...events).expectRows({ issuance_session_keys: [{ ...row, ...values }] });

describe('sessions that leave something to end', () => {
  it('have claims under their own key, or a user who began with them', () => {
    expectRow({}, offer({ storedClaims }));
    expectRow({ new_user_id: 'u' }, offer({ newUser: true }));
    const granted = { sessionId: 's', userId: 'u', code: { expiresAt: at(2) } };
    expectRow({ rights_end_at: at(2) }, { type: 'AuthorizationGranted', data: { ...granted, storedClaims }, of });
    const offered = { offerId: 'o', issuerState: { expiresAt: at(3) } };
    expectRow(
      { session_id: 'o', rights_end_at: at(3) },
      { type: 'AuthorizationOfferCreated', data: { ...offered, storedClaimSets: storedClaims }, of: { id: 'o' } },
    );
    given(
      offer({}),
      { type: 'AuthorizationGranted', data: granted, of: { id: 'a' } },
      { type: 'AuthorizationOfferCreated', data: offered, of: { id: 'o' } },
      { type: 'PreAuthorizedCodeRedeemed', data: { accessToken: { expiresAt: at(4) } }, of },
    ).expectRows({});
  });

  it('end with their last right: code, access token or refresh token', () => {
    const accessToken = { expiresAt: at(4) };
    const redeemed = { type: 'PreAuthorizedCodeRedeemed', data: { accessToken }, of } as const;
    expectRow({ rights_end_at: at(4) }, offer({ storedClaims }), redeemed);
    const data = { accessToken, tokenFamily: { expiresAt: at(9) } };
    expectRow({ rights_end_at: at(9) }, offer({ storedClaims }), { type: 'AuthorizationCodeRedeemed', data, of });
    for (const type of [
      'SessionLocked',
      'AuthorizationCodeReplayed',
      'TokensRevoked',
      'PreAuthorizedOfferDeleted',
    ] as const)
      expectRow({ rights_end_at: at(4) }, offer({ storedClaims }), redeemed, { type, data: {}, of });
  });

  it('wait for their deferrals', () => {
    const deferred = { type: 'IssuanceDeferred', data: { openUntil: at(7) }, of } as const;
    expectRow({ deferred_until: at(7) }, offer({ storedClaims }), deferred);
    for (const type of ['DeferredIssuanceDenied', 'DeferredIssuanceCompleted'] as const)
      expectRow({}, offer({ storedClaims }), deferred, { type, data: {}, of });
  });

  it('do not expire a user to whom a credential was issued', () => {
    expectRow({}, offer({ newUser: true }), { type: 'CredentialIssued', data: {}, of });
  });
});
