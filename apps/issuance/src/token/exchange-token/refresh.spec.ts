import type { AppError } from '@attestry/contracts';
import type { SingleUseValue } from '@attestry/keys';
import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import type { WalletClient } from '../../wallets/wallet-clients/wallet-clients.js';
import type { TokenFamilyState } from '../token-family/token-family.state.js';
import { checkAttestedKey } from './check-attested-key.js';
import { checkRefreshRights } from './check-refresh-rights.js';
import { checkRefreshToken, type RefreshFacts } from './check-refresh-token.js';
import { parseTokenRequest } from './parse-token-request.js';

const now = new Date('2026-05-01T10:00:00.000Z');
const refusal = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    const { code, message } = error as AppError;
    return [code, message];
  }
};
const NOT_VALID = ['invalid_grant', 'the refresh token is not valid'];

describe('a refresh token', () => {
  const family = {
    ...{ status: 'active', epoch: 1, familyId: 'f1', sessionId: 's1', userId: 'u1', clientId: 'wallet' },
    ...{ jkt: 'key', refreshToken: { expiresAt: '2026-05-31T10:00:00.000Z' } },
  } as Extract<TokenFamilyState, { status: 'active' }>;
  const session = { status: 'redeemed', id: 's1', tokenFamily: { id: 'f1' } } as IssuanceSessionState;
  const clientOf = (more: object = {}) =>
    ({ proof: { jkt: 'key' }, spends: [] as SingleUseValue[], ...more }) as unknown as WalletClient;
  const facts = (more: Partial<RefreshFacts> = {}): RefreshFacts => ({
    ...{ now, matched: true, isPersonActive: true, client: clientOf() },
    ...more,
  });
  const check = (
    more: Partial<RefreshFacts> = {},
    of: { family?: TokenFamilyState; session?: IssuanceSessionState; clientId?: string } = {},
  ) =>
    refusal(() =>
      checkRefreshToken(of.family ?? family, of.session ?? session, { clientId: of.clientId ?? 'wallet' }, facts(more)),
    );

  it('is accepted from its client with its key [T351]', () => expect(check()).toEqual({ family, session }));

  it.each<[string, Parameters<typeof check>]>([
    ['with another value', [{ matched: false }]],
    ['of a family that has ended', [{}, { family: { status: 'ended', epoch: 2, familyId: 'f1', sessionId: 's1' } }]],
    ['that has expired', [{ now: new Date('2026-05-31T10:00:00.000Z') }]],
    ['of a session that was revoked', [{}, { session: { status: 'revoked', id: 's1' } }]],
    [
      'of a family that the session does not name',
      [{}, { session: { ...session, tokenFamily: { id: 'f2' } } as never }],
    ],
    ['of a session without family', [{}, { session: { ...session, tokenFamily: undefined } as never }]],
    ['of a person who was deleted', [{ isPersonActive: false }]],
  ])('%s is not valid [T352]', (_, given) => expect(check(...given)).toEqual(NOT_VALID));

  it('is of one client, one registration of it, and its keys [T352]', () => {
    const otherClient = ['invalid_grant', 'the refresh token was issued to another client'];
    expect(check({}, { clientId: 'other' })).toEqual(otherClient);
    const registered = { ...family, walletId: 'w1' };
    expect(check({ client: clientOf({ wallet: { id: 'w1' } }) }, { family: registered })).toHaveProperty('family');
    expect(check({ client: clientOf({ wallet: { id: 'w2' } }) }, { family: registered })).toEqual(otherClient);
    expect(check({}, { family: registered })).toEqual(otherClient);
    expect(check({ client: clientOf({ proof: { jkt: 'another' } }) })).toEqual([
      'invalid_grant',
      'the DPoP proof must be made with the key of the refresh token',
    ]);
    const attested = { ...family, instanceJkt: 'instance' };
    expect(check({ client: clientOf({ instanceJkt: 'instance' }) }, { family: attested })).toHaveProperty('family');
    for (const instanceJkt of [undefined, 'another'])
      expect(check({ client: clientOf({ instanceJkt }) }, { family: attested })).toEqual([
        'invalid_grant',
        'the refresh token was issued to another instance of the wallet',
      ]);
  });

  it('of a client with an attested key is bound to that key, and to no DPoP key [T710]', () => {
    const attested = { ...family, instanceJkt: 'instance' };
    const clientWith = (more: object) => ({ client: clientOf({ instanceJkt: 'instance', ...more }) });
    for (const jkt of ['key', 'another'])
      expect(check(clientWith({ proof: { jkt } }), { family: attested })).toEqual({ family: attested, session });
    expect(check(clientWith({ proof: undefined }), { family: attested })).toEqual([
      'invalid_dpop_proof',
      'a DPoP proof is required',
    ]);
    // The wallet got its root certificates after the family had begun.
    expect(check(clientWith({ proof: { jkt: 'another' } }))).toEqual([
      'invalid_grant',
      'the DPoP proof must be made with the key of the refresh token',
    ]);
  });

  it('that began with a DPoP proof, or of a wallet with dpopRequired, needs a proof [T353]', () => {
    const missing = ['invalid_dpop_proof', 'a DPoP proof of the key of the refresh token is required'];
    expect(check({ client: clientOf({ proof: undefined }) })).toEqual(missing);
    const { jkt: _, ...unbound } = { ...family, instanceJkt: 'instance' };
    const client = { proof: undefined, instanceJkt: 'instance' };
    expect(check({ client: clientOf(client) }, { family: unbound })).toHaveProperty('family');
    expect(check({ client: clientOf({ ...client, wallet: { dpopRequired: true } }) }, { family: unbound })).toEqual([
      ...['invalid_dpop_proof', 'a DPoP proof is required'],
    ]);
  });
});

describe('the rights of a refreshed token', () => {
  const entries = [
    { credentialConfigurationId: 'c1', scope: 'jwt_vc_json:A' },
    { credentialConfigurationId: 'c2', scope: 'ldp_vc:B' },
    { credentialConfigurationId: 'c3', scope: 'jwt_vc_json:A' },
  ];
  const details = ['c1', 'c2'].map((id) => ({ credentialConfigurationId: id, credentialIdentifiers: [`of-${id}`] }));
  const named = (...ids: string[]) => ids.map((credentialConfigurationId) => ({ credentialConfigurationId }));

  it('are all of the session, or those that scope and authorization_details leave [T354]', () => {
    expect(checkRefreshRights({ entries }, {})).toBeUndefined();
    expect(checkRefreshRights({ entries }, { scopes: ['jwt_vc_json:A', 'ldp_vc:B'] })).toBeUndefined();
    expect(checkRefreshRights({ entries }, { scopes: ['jwt_vc_json:A'] })).toEqual([0, 2]);
    const detailed = { entries, authorizationDetails: details };
    expect(checkRefreshRights(detailed, {})).toBeUndefined();
    expect(checkRefreshRights(detailed, { authorizationDetails: named('c2') })).toEqual([1]);
    expect(checkRefreshRights(detailed, { scopes: ['jwt_vc_json:A'] })).toEqual([0]);
    expect(checkRefreshRights(detailed, { scopes: ['ldp_vc:B'], authorizationDetails: named('c2', 'c1') })).toEqual([
      1,
    ]);
  });

  it('are never more [T354]', () => {
    const tooWide = ['invalid_scope', 'scope must not exceed the scope that was granted'];
    for (const scopes of [['other'], ['jwt_vc_json:A', 'other'], ['openid']])
      expect(refusal(() => checkRefreshRights({ entries }, { scopes }))).toEqual(tooWide);
    const narrowed = { entries, authorizationDetails: [details[0]!] };
    expect(refusal(() => checkRefreshRights(narrowed, { scopes: ['ldp_vc:B'] }))).toEqual(tooWide);
    const refused = (description: string) => ['invalid_authorization_details', description];
    expect(refusal(() => checkRefreshRights(narrowed, { authorizationDetails: named('c2') }))).toEqual(
      refused('credential_configuration_id was not granted'),
    );
    expect(refusal(() => checkRefreshRights(narrowed, { authorizationDetails: named('c1', 'c1') }))).toEqual(
      refused('credential_configuration_id must not be repeated'),
    );
    expect(refusal(() => checkRefreshRights({ entries }, { authorizationDetails: named('c1') }))).toEqual(
      refused('authorization_details must not be sent: the grant has a scope only'),
    );
    const both = { scopes: ['ldp_vc:B'], authorizationDetails: named('c1') };
    expect(refusal(() => checkRefreshRights({ entries, authorizationDetails: details }, both))).toEqual([
      'invalid_scope',
      'scope and authorization_details have no credential in common',
    ]);
  });

  it('are those of the claim sets where the issuer bound them [T355]', () => {
    const bound = { entries, authorizationDetails: details, identifiers: details };
    expect(checkRefreshRights(bound, {})).toBeUndefined();
    expect(refusal(() => checkRefreshRights(bound, { authorizationDetails: named('c1') }))).toEqual([
      'invalid_authorization_details',
      'authorization_details must not be sent: the issuer chose the credentials of the offer',
    ]);
  });
});

describe('the code of an attested wallet', () => {
  const of = (instanceJkt?: string) =>
    ({
      status: 'authorized',
      origin: { kind: 'authorizationRequest', instanceJkt },
    }) as unknown as IssuanceSessionState;

  it('is exchanged by the instance that pushed the request [T364]', () => {
    for (const [state, instanceJkt] of [
      [of('a'), 'a'],
      [of(), undefined],
      [of(), 'a'],
      [{ status: 'locked', id: 'x' }, undefined],
    ] as const)
      expect(() => checkAttestedKey(state as IssuanceSessionState, instanceJkt)).not.toThrow();
    for (const instanceJkt of ['b', undefined])
      expect(refusal(() => checkAttestedKey(of('a'), instanceJkt))).toEqual([
        'invalid_grant',
        'the code was issued to another instance of the wallet',
      ]);
  });
});

describe('a request with a refresh token', () => {
  const parse = (parameters: Record<string, string>, isAttested = false) =>
    refusal(() => parseTokenRequest(new URLSearchParams({ grant_type: 'refresh_token', ...parameters }), isAttested));

  it('names token and client, and at most restricts the rights [T351]', () => {
    expect(parse({ refresh_token: 'x', client_id: 'wallet', scope: ' ' })).toEqual({
      ...{ grant: 'refreshToken', refreshToken: 'x', clientId: 'wallet' },
    });
    expect(parse({ refresh_token: 'x', client_id: 'wallet', scope: 'a  b' })).toHaveProperty('scopes', ['a', 'b']);
    expect(parse({ client_id: 'wallet' })).toEqual(['invalid_request', 'refresh_token is missing']);
    expect(parse({ refresh_token: 'x' })).toEqual(['invalid_request', 'client_id is missing']);
    // Its attestation names it; the authentication refuses one that does not.
    expect(parse({ refresh_token: 'x' }, true)).toEqual({ grant: 'refreshToken', refreshToken: 'x' });
  });
});
