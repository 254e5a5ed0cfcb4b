import { projected } from '@attestry/testing';
import { credentialOfRow, users, type UserTables } from './users.read-model.js';

const given = projected(users);
const createdAt = '2026-03-01T00:00:00.000Z';
const issuedAt = '2026-03-01T01:00:00.000Z';
const of = { id: 'u' };
const created = { type: 'UserCreated', data: { userId: 'u', sealedClaims: 'claims', createdAt }, of } as const;
const person: UserTables['issuance_users'] = {
  tenant_id: 't1',
  id: 'u',
  sealed_claims: 'claims',
  sealed_link: null,
  created_at: createdAt,
};
const offer = (data: object) =>
  ({
    type: 'PreAuthorizedOfferCreated',
    data: { sessionId: 's', userId: 'u', createdAt, ...data },
    of: { id: 's' },
  }) as const;
const session = { tenant_id: 't1', id: 's', user_id: 'u' };
const issued = (data: object = {}) =>
  ({
    type: 'CredentialIssued',
    data: {
      credentialId: 'c',
      userId: 'u',
      sessionId: 's',
      issuedAt,
      credentialConfigurationId: 'cc',
      format: 'jwt_vc_json',
      credentialType: 'T',
      validFrom: issuedAt,
      ...data,
    },
    of: { id: 's' },
  }) as const;
const about = { credentialId: 'c', userId: 'u', issuedAt };
const credentials = (...events: Parameters<typeof given>) =>
  given(created, ...events).rows.issuance_credentials as unknown as UserTables['issuance_credentials'][];

describe('the list of users', () => {
  it('has each with the sealed values that were stored last', () => {
    given(created).expectRows({ issuance_users: [person] });
    given(
      created,
      { type: 'UserLinked', data: { sealedLink: 'link' }, of },
      { type: 'UserClaimsReplaced', data: { sealedClaims: 'others' }, of },
    ).expectRows({ issuance_users: [{ ...person, sealed_claims: 'others', sealed_link: 'link' }] });
  });

  it('has users who began with an offer, whatever is stored of them later', () => {
    const begun = [{ ...person, sealed_claims: null }];
    given(offer({ newUser: true })).expectRows({ issuance_users: begun });
    given(offer({ newUser: true }), created).expectRows({ issuance_users: begun });
    given(offer({})).expectRows({});
  });

  it('has which sessions and offers hold claims of them, also before the user', () => {
    given(offer({ storedClaims: { keyId: 's' } })).expectRows({ issuance_user_sessions: [session] });
    const granted = { sessionId: 's', userId: 'u', storedClaims: { keyId: 's' } };
    given({ type: 'AuthorizationGranted', data: granted }).expectRows({ issuance_user_sessions: [session] });
    const offered = { offerId: 's', storedClaimSets: { keyId: 's' } };
    given({ type: 'AuthorizationOfferCreated', data: { ...offered, userId: 'u' } }).expectRows({
      issuance_user_sessions: [session],
    });
    given({ type: 'AuthorizationOfferCreated', data: offered }).expectRows({});
  });

  it('has nothing of deleted and expired users, also of what was in flight', () => {
    for (const type of ['UserDeleted', 'UserExpired'] as const)
      given(
        created,
        { ...created, data: { ...created.data, userId: 'v' }, of: { id: 'v' } },
        offer({ storedClaims: { keyId: 's' } }),
        issued(),
        { type, data: { userId: 'u' }, of },
        issued({ credentialId: 'late' }),
      ).expectRows({ issuance_users: [{ ...person, id: 'v' }] });
  });
});

describe('the list of credentials', () => {
  it('has each with its status', () => {
    const [row] = credentials(
      issued({ status: { listId: 'l', index: 1 }, validUntil: '2027', digests: { msoHash: 'h' } }),
    );
    expect(row).toMatchObject({ status: 'valid', format: 'jwt_vc_json', type: 'T', configuration_id: 'cc' });
    expect(credentialOfRow(row!)).toMatchObject({ id: 'c', status: 'valid', validUntil: '2027', msoHash: 'h' });
    expect(credentials(issued())).toMatchObject([{ status: '' }]);
    const changed = (status: 'suspended' | 'invalid') =>
      ({ type: 'CredentialStatusChanged', data: { ...about, status } }) as const;
    expect(credentials(issued(), changed('suspended'), changed('invalid'))).toMatchObject([{ status: 'invalid' }]);
  });

  it('does not have deleted ones', () => {
    const deleted = { type: 'CredentialDeleted', data: about } as const;
    expect(credentials(issued(), issued({ credentialId: 'd' }), deleted).map(({ id }) => id)).toEqual(['d']);
  });
});
