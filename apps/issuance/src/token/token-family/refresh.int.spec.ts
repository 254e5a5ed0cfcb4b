/** @engines embedded postgres */
import { randomUUID } from 'node:crypto';
import {
  createAttestedWallet,
  createOffer,
  createWallet,
  deleteUser,
  deleteWallet,
  exchangeToken,
  issueCredential,
  pushAuthorization,
  recordSubject,
  retrievePreAuthorizedOffer,
  revokeWalletToken,
  updateOpenIdConfiguration,
  updateWallet,
  type AccessTokenResponse,
  type CredentialResponse,
  type Operation,
  type OperationRecordMessage,
  type PushedAuthorizationResponse,
} from '@attestry/contracts';
import { isErased } from '@attestry/keys';
import { jest } from '@jest/globals';
import { waitUntil, WalletProvider } from '@attestry/testing';
import { athOf, IssuanceUnderTest, makeWalletKey as makeKey, type WalletKey } from '@attestry/testing/services';
import type { JWK } from 'jose';
import { issuanceService } from '../../index.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { SessionKeys } from '../../offers/session-keys/session-keys.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import { FamilySweep } from './family-sweep.js';
import { tokenFamily, tokenFamilyStream } from './token-family.state.js';

const { TENANT, OTHER, WALLET } = IssuanceUnderTest;
const DAY_MS = 86_400_000;

/** Number of the person who signs in next; a new one each time. */
let person = 0;
const issuance = new IssuanceUnderTest(issuanceService, {
  person: () => ({ subjectId: `person-${++person}`, claims: { name: `Name ${person}` } }),
  subjects: [recordSubject('record', 'issuance')],
});
const { admin, send, sendForm, seconds, offer, redeem, codeGrant, baseOf } = issuance;
let attester: WalletProvider;
const course = new Map<string, string>();
let limited: string;

beforeAll(async () => {
  await issuance.open();
  attester = await WalletProvider.create();
  const create = (type: string, tenantId: string, more: object = {}) => {
    const claimMappings = { name: { mapFrom: 'claims.name', required: true }, degree: { mapFrom: 'claims.degree' } };
    return issuance.configure(type, { claimMappings, ...more }, tenantId);
  };
  for (const tenantId of [TENANT, OTHER]) {
    course.set(tenantId, await create('Course', tenantId));
    await admin(createWallet, { body: WALLET }, tenantId);
  }
  limited = await create('Limited', TENANT, { maxIssuances: 2 });
  const attested = { name: 'Attested', rootCertificates: [attester.rootCertificate] };
  await admin(createAttestedWallet, { body: { ...attested, clientId: 'attested' } });
  await admin(createAttestedWallet, { body: { ...attested, clientId: 'combined', dpopRequired: true } });
});
afterEach(async () => {
  issuance.ahead = 0;
  await admin(updateOpenIdConfiguration, { body: { refreshTokenDays: null } });
});
afterAll(() => issuance.remove());

// --- the wallet

const OPERATIONS = {
  ...{ token: exchangeToken, credential: issueCredential },
  ...{ push: pushAuthorization, revoke: revokeWalletToken },
} as const;
const prove = (key: WalletKey, at: keyof typeof OPERATIONS = 'token', claims: object = {}, tenantId = TENANT) =>
  issuance.proveDpop(key, OPERATIONS[at], claims, tenantId);
/** Headers of a wallet that attests itself and proves possession of its own. */
const attest = async (clientId: string, key: WalletKey, isCombined = false): Promise<Record<string, string>> => ({
  'oauth-client-attestation': await attester.attest(clientId, { ...key.jwk } as JWK, {
    iat: seconds(),
    exp: seconds() + 300,
  }),
  ...(!isCombined && {
    'oauth-client-attestation-pop': await issuance.sign(
      'oauth-client-attestation-pop+jwt',
      key,
      { aud: baseOf(TENANT), jti: randomUUID() },
      { jwk: undefined },
    ),
  }),
});

const form =
  (operation: Operation) =>
  <T = Record<string, unknown>>(...sent: [Record<string, string>, Record<string, string>?, string?]) =>
    sendForm<T>(operation, ...sent);
const token = form(exchangeToken);
const revoke = form(revokeWalletToken);
const push = form(pushAuthorization);

const authorization = (parameters: Record<string, string> = {}) =>
  issuance.authorization({ scope: 'jwt_vc_json:Course', ...parameters });
const codeFor = (parameters: Record<string, string> = {}, tenantId = TENANT) =>
  issuance.signIn(authorization(parameters), tenantId);
/** Tokens of a person who signed in, bound to a DPoP key. */
const begin = async (parameters: Record<string, string> = {}, key = makeKey(), tenantId = TENANT) => {
  const code = await codeFor(parameters, tenantId);
  const dpop = await prove(key, 'token', {}, tenantId);
  const { status, body } = await token<AccessTokenResponse>(codeGrant(code), { dpop }, tenantId);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { key, code, body, refreshToken: body.refresh_token!, accessToken: body.access_token };
};
const preAuthorized = () => offer({ credentials: [course.get(TENANT)!], claims: { name: 'x' } });
type Begun = Awaited<ReturnType<typeof begin>>;
const refresh = async (
  { key, refreshToken }: Pick<Begun, 'key' | 'refreshToken'>,
  more: Record<string, string> = {},
  tenantId = TENANT,
) =>
  token<AccessTokenResponse>(
    { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: 'wallet', ...more },
    { dpop: await prove(key, 'token', {}, tenantId) },
    tenantId,
  );
/** The access token of a successful refresh. */
const refreshed = async (begun: Begun, more: Record<string, string> = {}): Promise<string> => {
  const { status, body } = await refresh(begun, more);
  expect([status, body]).toEqual([200, expect.objectContaining({ access_token: expect.any(String) })]);
  return body.access_token;
};
/** Claims of the credential that a token gets, or its refusal. */
const collect = async (
  accessToken: string,
  key: WalletKey | undefined,
  selector: object = { credential_configuration_id: course.get(TENANT) },
  tenantId = TENANT,
): Promise<Record<string, unknown>> => {
  const proof = await issuance.proveKey(makeKey(), tenantId);
  const dpop = key && (await prove(key, 'credential', { ath: athOf(accessToken) }, tenantId));
  const { status, headers, body } = await issuance.sendJson<CredentialResponse>(
    issueCredential,
    { ...selector, proofs: { jwt: [proof] } },
    { authorization: `${dpop ? 'DPoP' : 'Bearer'} ${accessToken}`, ...(dpop !== undefined && { dpop }) },
    tenantId,
  );
  if (status !== 200)
    return { status, ...body, challenge: headers['www-authenticate']?.split(',')[0] } as Record<string, unknown>;
  const payload = (body.credentials[0]!.credential as string).split('.')[1]!;
  const { vc } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { vc: { credentialSubject: object } };
  const { id: _, ...subject } = vc.credentialSubject as Record<string, unknown>;
  return subject;
};
const refused = (error: string, error_description: string) => ({ status: 400, body: { error, error_description } });
const NOT_VALID = refused('invalid_grant', 'the refresh token is not valid');
const ENDED = {
  ...{ status: 401, error: 'invalid_token', error_description: 'the access token is not valid' },
  challenge: 'DPoP error="invalid_token"',
};

const familyOf = async ({ refreshToken }: Pick<Begun, 'refreshToken'>) =>
  (
    await issuance.engines.streams.load(
      tokenFamily,
      tokenFamilyStream(TENANT, parseBearerValue(refreshToken)!.sessionId),
    )
  ).state;
const sessionOf = async ({ accessToken }: Pick<Begun, 'accessToken'>) =>
  (
    await issuance.engines.streams.load(
      issuanceSession,
      issuanceSessionStream(TENANT, parseBearerValue(accessToken)!.sessionId),
    )
  ).state;
/** Claims of the person who signed in, in the form of the first event. */
const claimsOf = async ({ accessToken }: Begun): Promise<string> => {
  const stream = issuanceSessionStream(TENANT, parseBearerValue(accessToken)!.sessionId);
  const [granted] = await issuance.engines.events.readStream(stream);
  const event = issuanceSession.evolve(issuanceSession.initial, granted as never);
  if (event.status !== 'authorized') throw new Error(event.status);
  const text = await issuance.engines.vault.sealing.openStored(TENANT, 'session', event.storedClaims!);
  return isErased(text) ? 'erased' : text;
};
const sweep = () => issuance.services.app.get(FamilySweep, { strict: false }).sweep();
/** Runs the job until it has ended the family. */
const sweepUntilEnded = (begun: Begun) =>
  waitUntil(
    async () => {
      await sweep();
      return (await familyOf(begun)).status === 'ended';
    },
    { what: 'the end of the family' },
  );

describe('the code grant of a client with a key', () => {
  it('returns a refresh token: a family that the session names, for 30 days [T350]', async () => {
    const begun = await begin();
    expect(begun.body).toMatchObject({ token_type: 'DPoP', expires_in: 900, refresh_token: expect.any(String) });
    const family = await familyOf(begun);
    const session = await sessionOf(begun);
    if (family.status !== 'active' || session.status !== 'redeemed') throw new Error(family.status);
    expect(session.tokenFamily).toEqual({ id: family.familyId, expiresAt: family.refreshToken.expiresAt });
    expect(family).toMatchObject({ epoch: 1, sessionId: session.id, userId: session.userId, clientId: 'wallet' });
    const days = (Date.parse(family.refreshToken.expiresAt) - Date.now()) / DAY_MS;
    expect(days).toBeGreaterThan(29.99);
    expect(days).toBeLessThanOrEqual(30);
  });

  it('returns none without a key, nor for a pre-authorized code [T350]', async () => {
    const { body } = await token(codeGrant(await codeFor()));
    expect(body).toMatchObject({ token_type: 'Bearer' });
    expect(body).not.toHaveProperty('refresh_token');
    const { code } = await preAuthorized();
    const offered = await redeem(code, { dpop: await prove(makeKey()) });
    expect(offered.body).toMatchObject({ token_type: 'DPoP' });
    expect(offered.body).not.toHaveProperty('refresh_token');
  });

  it('gives it the lifetime of the setting, 1 to 365 days [T365]', async () => {
    expect(await admin(updateOpenIdConfiguration, { body: { refreshTokenDays: 2 } })).toMatchObject({
      refreshTokenDays: 2,
    });
    const begun = await begin();
    issuance.ahead = 2 * DAY_MS - 2000;
    const { status, body } = await refresh(begun);
    // An access token never outlives the refresh token.
    expect([status, body.expires_in <= 2]).toEqual([200, true]);
    issuance.ahead = 2 * DAY_MS + 1000;
    expect(await refresh(begun)).toMatchObject(NOT_VALID);
    issuance.ahead = 0;
    for (const refreshTokenDays of [0, 366, 1.5, '30', true])
      await expect(admin(updateOpenIdConfiguration, { body: { refreshTokenDays } })).rejects.toMatchObject({
        details: [{ param: 'refreshTokenDays', msg: 'must be an integer from 1 to 365, or null for the default' }],
      });
    expect(await admin(updateOpenIdConfiguration, { body: { refreshTokenDays: null } })).toMatchObject({
      refreshTokenDays: 30,
    });
  });
});

describe('a refresh', () => {
  it('returns an access token of the same rights, any number of times, and appends nothing [T351]', async () => {
    const begun = await begin();
    const { revision } = await issuance.engines.streams.load(
      tokenFamily,
      tokenFamilyStream(TENANT, parseBearerValue(begun.refreshToken)!.sessionId),
    );
    const answers = [await refresh(begun), await refresh(begun)];
    for (const { status, headers, body } of answers) {
      expect([status, headers]).toEqual([200, { 'dpop-nonce': expect.any(String) }]);
      expect(body).toEqual({
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]{43}$/),
        ...{ token_type: 'DPoP', expires_in: 900, scope: 'jwt_vc_json:Course' },
      });
      expect(await collect(body.access_token, begun.key)).toEqual({ name: `Name ${person}` });
    }
    expect(answers[0]!.body.access_token).not.toBe(answers[1]!.body.access_token);
    const stream = tokenFamilyStream(TENANT, parseBearerValue(begun.refreshToken)!.sessionId);
    expect([revision, (await issuance.engines.streams.load(tokenFamily, stream)).revision]).toEqual([0, 0]);
    expect(await collect(begun.accessToken, begun.key)).toEqual({ name: `Name ${person}` });
  });

  it('is recorded, and so are its refusals [T351]', async () => {
    const begun = await begin();
    const recordOf = async (requestId: string) => {
      const records = () => issuance.messages.map(({ data }) => data as OperationRecordMessage);
      return waitUntil(() => records().find((one) => one.requestId === requestId), { what: 'the record' });
    };
    await refresh(begun);
    expect(await recordOf(`request-${issuance.requests}`)).toMatchObject({
      prefix: 'OPENID_TOKEN',
      outcome: 'SUCCESS',
    });
    await refresh({ ...begun, key: makeKey() });
    expect(await recordOf(`request-${issuance.requests}`)).toMatchObject({ prefix: 'OPENID_TOKEN', outcome: 'FAIL' });
  });

  it('works on the last day for claims that are not persisted, whose key is destroyed after it [T356]', async () => {
    const begun = await begin();
    const name = `Name ${person}`;
    const keys = issuance.services.app.get(SessionKeys, { strict: false });
    issuance.ahead = 30 * DAY_MS - 60_000;
    await keys.sweep();
    await sweep();
    expect(await collect(await refreshed(begun), begun.key)).toEqual({ name });
    issuance.ahead = 30 * DAY_MS + 120_000;
    expect(await refresh(begun)).toMatchObject(NOT_VALID);
    await keys.sweep();
    await sweep();
    expect(await claimsOf(begun)).toBe('erased');
    // Its end by time is in its first event.
    expect((await familyOf(begun)).status).toBe('active');
  });

  it('gives tokens that expire, and are bound to the DPoP key [T351]', async () => {
    const begun = await begin();
    const accessToken = await refreshed(begun);
    expect(await collect(accessToken, undefined)).toMatchObject({
      ...{ status: 401, error: 'invalid_token', challenge: 'DPoP error="invalid_token"' },
      error_description: 'the access token is bound to a DPoP key: send it with the scheme DPoP and a proof',
    });
    expect(await collect(accessToken, makeKey())).toMatchObject({ status: 401, error: 'invalid_dpop_proof' });
    issuance.ahead = 899_000;
    expect(await collect(accessToken, begun.key)).toHaveProperty('name');
    issuance.ahead = 901_000;
    expect(await collect(accessToken, begun.key)).toEqual(ENDED);
  });

  it('counts credentials together with those of the other tokens of the session [T357]', async () => {
    const begun = await begin({ scope: 'jwt_vc_json:Limited' });
    const by = { credential_configuration_id: limited };
    const first = await refreshed(begun);
    expect(await collect(begun.accessToken, begun.key, by)).toHaveProperty('name');
    expect(await collect(first, begun.key, by)).toHaveProperty('name');
    for (const accessToken of [begun.accessToken, first, await refreshed(begun)])
      expect(await collect(accessToken, begun.key, by)).toMatchObject({
        ...{ status: 400, error: 'credential_request_denied' },
        error_description: 'the credential configuration allows no more credentials for this offer',
      });
  });

  it('restricts, and never widens, the scope [T354]', async () => {
    const begun = await begin({ scope: 'jwt_vc_json:Course jwt_vc_json:Limited' });
    expect(await refresh(begun, { scope: 'jwt_vc_json:Course openid' })).toMatchObject(
      refused('invalid_scope', 'scope must not exceed the scope that was granted'),
    );
    const { body } = await refresh(begun, { scope: 'jwt_vc_json:Limited' });
    expect(body.scope).toBe('jwt_vc_json:Limited');
    expect(await collect(body.access_token, begun.key, { credential_configuration_id: limited })).toHaveProperty(
      'name',
    );
    expect(await collect(body.access_token, begun.key)).toMatchObject({ status: 403, error: 'insufficient_scope' });
    // The refresh token keeps its rights.
    expect((await refresh(begun)).body.scope?.split(' ').sort()).toEqual(['jwt_vc_json:Course', 'jwt_vc_json:Limited']);
  });

  it('keeps the identifiers of authorization_details, and at most selects from them [T355]', async () => {
    const detail = (id: string) => ({ type: 'openid_credential', credential_configuration_id: id });
    const both = JSON.stringify([detail(course.get(TENANT)!), detail(limited)]);
    const begun = await begin({ scope: '', authorization_details: both });
    const granted = begun.body.authorization_details!;
    expect(granted).toHaveLength(2);
    expect((await refresh(begun)).body.authorization_details).toEqual(granted);
    const selected = await refresh(begun, { authorization_details: JSON.stringify([detail(limited)]) });
    const [ofLimited] = granted.filter((one) => one.credential_configuration_id === limited);
    const [ofCourse] = granted.filter((one) => one.credential_configuration_id !== limited);
    expect(selected.body).toMatchObject({ scope: 'jwt_vc_json:Limited', authorization_details: [ofLimited] });
    const by = (one: typeof ofLimited) => ({ credential_identifier: one!.credential_identifiers[0] });
    expect(await collect(selected.body.access_token, begun.key, by(ofLimited))).toHaveProperty('name');
    expect(await collect(selected.body.access_token, begun.key, by(ofCourse))).toMatchObject({
      error: 'unknown_credential_identifier',
    });
    expect(await refresh(begun, { authorization_details: JSON.stringify([detail(randomUUID())]) })).toMatchObject(
      refused('invalid_authorization_details', 'credential_configuration_id was not granted'),
    );
  });

  it('keeps the claim sets of an offer under their identifiers, and refuses authorization_details [T355]', async () => {
    const claimSets = [
      { identifier: 'bachelor', claims: { degree: 'Bachelor' } },
      { identifier: 'master', claims: { degree: 'Master' } },
    ];
    const { uri } = await admin(createOffer, {
      body: { credentials: [{ credentialConfigurationId: course.get(TENANT)!, claimSets }] },
    });
    const { grants } = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
      grants: { authorization_code: { issuer_state: string } };
    };
    const begun = await begin({ issuer_state: grants.authorization_code.issuer_state });
    issuance.ahead = 5 * DAY_MS;
    const { body } = await refresh(begun);
    expect(body.authorization_details).toEqual([
      {
        ...{ type: 'openid_credential', credential_configuration_id: course.get(TENANT) },
        credential_identifiers: ['bachelor', 'master'],
      },
    ]);
    expect(await collect(body.access_token, begun.key, { credential_identifier: 'master' })).toMatchObject({
      degree: 'Master',
    });
    const details = [{ type: 'openid_credential', credential_configuration_id: course.get(TENANT) }];
    expect(await refresh(begun, { authorization_details: JSON.stringify(details) })).toMatchObject(
      refused(
        'invalid_authorization_details',
        'authorization_details must not be sent: the issuer chose the credentials of the offer',
      ),
    );
  });
});

describe('a refresh is refused', () => {
  it('for a value that is unknown, changed, or another kind of token [T352] [T358]', async () => {
    const begun = await begin();
    const accessToken = await refreshed(begun);
    const last = begun.refreshToken.at(-5) === 'A' ? 'B' : 'A';
    const changed = `${begun.refreshToken.slice(0, -5)}${last}${begun.refreshToken.slice(-4)}`;
    for (const refreshToken of ['x', changed, begun.accessToken, accessToken, begun.code])
      expect(await refresh({ ...begun, refreshToken })).toMatchObject(NOT_VALID);
    for (const refreshToken of [begun.refreshToken, `${begun.refreshToken}.x.y`])
      expect(await collect(refreshToken, begun.key)).toEqual(ENDED);
    expect(await refresh({ ...begun, refreshToken: 'x'.repeat(1025) })).toMatchObject(
      refused('invalid_request', 'refresh_token must have at most 1024 characters'),
    );
  });

  it('at another tenant, and so is its access token [T366]', async () => {
    const begun = await begin();
    const accessToken = await refreshed(begun);
    expect(await refresh(begun, {}, OTHER)).toMatchObject(NOT_VALID);
    const selector = { credential_configuration_id: course.get(OTHER) };
    expect(await collect(accessToken, begun.key, selector, OTHER)).toEqual(ENDED);
    expect(await revoke({ token: begun.refreshToken, client_id: 'wallet' }, {}, OTHER)).toMatchObject({ status: 200 });
    await refreshed(begun);
  });

  it('for another client, another key, or without a valid unused proof [T352] [T353]', async () => {
    const begun = await begin();
    const { key, refreshToken } = begun;
    const sent = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: 'wallet' };
    await admin(createWallet, { body: { ...WALLET, clientId: 'other' } });
    for (const client_id of ['other', 'unknown'])
      expect(await refresh(begun, { client_id })).toMatchObject(
        refused('invalid_grant', 'the refresh token was issued to another client'),
      );
    expect(await refresh({ ...begun, key: makeKey() })).toMatchObject(
      refused('invalid_grant', 'the DPoP proof must be made with the key of the refresh token'),
    );
    expect(await token(sent)).toMatchObject(
      refused('invalid_dpop_proof', 'a DPoP proof of the key of the refresh token is required'),
    );
    expect(await token(sent, { dpop: '' })).toMatchObject(
      refused('invalid_dpop_proof', 'DPoP proof: must be a compact JWS'),
    );
    const dpop = await prove(key);
    expect((await token(sent, { dpop })).status).toBe(200);
    expect(await token(sent, { dpop })).toMatchObject({
      ...refused('invalid_dpop_proof', 'the DPoP proof has already been used'),
      headers: { 'dpop-nonce': expect.any(String) },
    });
    const nonce = await prove(key, 'token', { nonce: 'x' });
    expect(await token(sent, { dpop: nonce })).toMatchObject(
      refused('use_dpop_nonce', 'the nonce of the DPoP proof is unknown or has expired'),
    );
    const { client_id: _, ...anonymous } = sent;
    expect(await token(anonymous, { dpop: await prove(key) })).toMatchObject(
      refused('invalid_request', 'client_id is missing'),
    );
    expect(
      await send(exchangeToken, {
        url: '/v1/oauth/token?refresh_token=x',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ).toMatchObject(refused('invalid_request', 'refresh_token must not be in the query string'));
  });

  it('after the code was used again with its verifier, which ends the access tokens too [T359, T484]', async () => {
    const begun = await begin();
    const accessToken = await refreshed(begun);
    const withoutVerifier = { ...codeGrant(begun.code), code_verifier: 'x'.repeat(43) };
    expect((await token(withoutVerifier, { dpop: await prove(makeKey()) })).body).toMatchObject({
      error_description: 'the code is not valid',
    });
    expect(await familyOf(begun)).toMatchObject({ status: 'active', epoch: 1 });
    expect((await token(codeGrant(begun.code), { dpop: await prove(makeKey()) })).body).toEqual({
      error: 'invalid_grant',
      error_description: 'the code has already been used',
    });
    expect(await familyOf(begun)).toMatchObject({ status: 'ended', epoch: 2 });
    expect(await refresh(begun)).toMatchObject(NOT_VALID);
    for (const value of [accessToken, begun.accessToken]) expect(await collect(value, begun.key)).toEqual(ENDED);
    expect(await claimsOf(begun)).toBe('erased');
  });

  it('for all but one of concurrent exchanges of a code, whose families end [T359]', async () => {
    const code = await codeFor();
    const key = makeKey();
    const answers = await Promise.all(
      [1, 2, 3].map(async () => token<AccessTokenResponse>(codeGrant(code), { dpop: await prove(key) })),
    );
    const redeemed = answers.filter(({ status }) => status === 200);
    expect(redeemed.length).toBe(1);
    const { refresh_token: refreshToken } = redeemed[0]!.body;
    expect(await refresh({ key, refreshToken: refreshToken! })).toMatchObject(NOT_VALID);
  });
});

describe('what ends a family', () => {
  const registerOther = async () => {
    const clientId = `wallet-${randomUUID()}`;
    const wallet = await admin(createWallet, { body: { ...WALLET, clientId } });
    const key = makeKey();
    const code = await codeFor({ client_id: clientId });
    const { body } = await token<AccessTokenResponse>(codeGrant(code, clientId), { dpop: await prove(key) });
    const begun: Begun = { key, code, body, refreshToken: body.refresh_token!, accessToken: body.access_token };
    return { wallet, begun, more: { client_id: clientId } };
  };

  it('is the end of the person: tokens at once, then family and key [T360]', async () => {
    const begun = await begin();
    const accessToken = await refreshed(begun);
    const session = await sessionOf(begun);
    if (session.status !== 'redeemed') throw new Error(session.status);
    await admin(deleteUser, { params: { id: session.userId } });
    expect(await refresh(begun)).toMatchObject(NOT_VALID);
    expect(await collect(accessToken, begun.key)).toMatchObject({ status: 400, error: 'credential_request_denied' });
    expect(await claimsOf(begun)).toBe('erased');
    await sweepUntilEnded(begun);
    expect(await sessionOf(begun)).toMatchObject({ status: 'revoked' });
    expect(await collect(accessToken, begun.key)).toEqual(ENDED);
  });

  it('is a disabled wallet, also when it is enabled again [T360]', async () => {
    const { wallet, begun, more } = await registerOther();
    const accessToken = await refreshed(begun, more);
    const { attestationRequired: _, id, ...body } = wallet;
    await admin(updateWallet, { params: { id }, body: { ...body, name: 'Renamed' } });
    await refreshed(begun, more);
    await admin(updateWallet, { params: { id }, body: { ...body, disabled: true } });
    expect(await refresh(begun, more)).toMatchObject(
      refused('unauthorized_client', 'this issuer has disabled the wallet'),
    );
    expect(await collect(accessToken, begun.key)).toEqual(ENDED);
    await sweepUntilEnded(begun);
    await admin(updateWallet, { params: { id }, body });
    expect(await refresh(begun, more)).toMatchObject(NOT_VALID);
    expect(await collect(begun.accessToken, begun.key)).toEqual(ENDED);
    expect(await claimsOf(begun)).toBe('erased');
  });

  it('is a deleted wallet, also when its client_id is registered again [T360]', async () => {
    const { wallet, begun, more } = await registerOther();
    const accessToken = await refreshed(begun, more);
    await admin(deleteWallet, { params: { id: wallet.id } });
    expect(await refresh(begun, more)).toMatchObject({
      ...{ status: 401, body: { error: 'invalid_client', error_description: 'the wallet is no longer registered' } },
    });
    await admin(createWallet, { body: { ...WALLET, clientId: wallet.clientId } });
    expect(await refresh(begun, more)).toMatchObject(
      refused('invalid_grant', 'the refresh token was issued to another client'),
    );
    expect(await collect(accessToken, begun.key)).toEqual(ENDED);
    await sweepUntilEnded(begun);
    expect(await claimsOf(begun)).toBe('erased');
  });

  it('is the end of its wallet while the code was exchanged [T360]', async () => {
    const { wallet, more } = await registerOther();
    const { attestationRequired: _, id, ...body } = wallet;
    const registered = issuance.services.app.get(TenantWallets, { strict: false });
    const find = registered.findWallet.bind(registered);
    const code = await codeFor(more);
    jest.spyOn(registered, 'findWallet').mockImplementationOnce(async (...given) => {
      const found = await find(...given);
      await admin(updateWallet, { params: { id }, body: { ...body, disabled: true } });
      return found;
    });
    const { status, body: refusal } = await token(codeGrant(code, wallet.clientId), { dpop: await prove(makeKey()) });
    expect([status, refusal]).toEqual([
      400,
      { error: 'unauthorized_client', error_description: 'this issuer has disabled the wallet' },
    ]);
    const stream = issuanceSessionStream(TENANT, parseBearerValue(code)!.sessionId);
    expect((await issuance.engines.streams.load(issuanceSession, stream)).state.status).toBe('revoked');
  });

  it('leaves other families alone [T360]', async () => {
    const [first, second] = [await begin(), await registerOther()];
    await admin(deleteWallet, { params: { id: second.wallet.id } });
    await sweepUntilEnded(second.begun);
    await refreshed(first);
    expect(await collect(first.accessToken, first.key)).toHaveProperty('name');
  });
});

describe('the revocation endpoint', () => {
  it.each(['refreshToken', 'accessToken', 'refreshed'] as const)(
    'ends all tokens of the authorization by the %s, and the key of its claims [T361]',
    async (kind) => {
      const begun = await begin();
      const accessToken = await refreshed(begun);
      const value = kind === 'refreshed' ? accessToken : begun[kind];
      const hint = { token_type_hint: kind === 'refreshToken' ? 'access_token' : 'nonsense' };
      expect(await revoke({ token: value, client_id: 'wallet', ...hint })).toEqual({
        status: 200,
        headers: {},
        body: {},
      });
      expect(await refresh(begun)).toMatchObject(NOT_VALID);
      for (const ended of [accessToken, begun.accessToken]) expect(await collect(ended, begun.key)).toEqual(ENDED);
      expect(await familyOf(begun)).toMatchObject({ status: 'ended' });
      expect(await claimsOf(begun)).toBe('erased');
      expect(await revoke({ token: value, client_id: 'wallet' })).toMatchObject({ status: 200, body: {} });
    },
  );

  it('ends a Bearer token, of a code and of an offer [T361]', async () => {
    const { body } = await token<AccessTokenResponse>(codeGrant(await codeFor()));
    expect(await collect(body.access_token, undefined)).toHaveProperty('name');
    expect((await revoke({ token: body.access_token, client_id: 'wallet' })).status).toBe(200);
    expect(await collect(body.access_token, undefined)).toMatchObject({ status: 401, error: 'invalid_token' });
    for (const [credentials, state] of [
      [0, 'EXPIRED'],
      [1, 'CLAIMED'],
    ] as const) {
      const { id, code } = await preAuthorized();
      const { access_token } = (await redeem(code)).body;
      for (let count = 0; count < credentials; count++)
        expect(await collect(access_token, undefined)).toHaveProperty('name');
      expect((await revoke({ token: access_token })).status).toBe(200);
      expect(await collect(access_token, undefined)).toMatchObject({ status: 401, error: 'invalid_token' });
      expect(await admin(retrievePreAuthorizedOffer, { params: { id } })).toMatchObject({ state });
    }
  });

  it('answers 200 for tokens that are unknown or expired, and changes nothing [T361]', async () => {
    const begun = await begin();
    for (const value of ['x', 'a.b.c', begun.refreshToken.replace(/.$/, '~'), `${begun.accessToken}x`])
      expect(await revoke({ token: value })).toMatchObject({ status: 200, body: {} });
    issuance.ahead = 901_000;
    expect((await revoke({ token: begun.accessToken, client_id: 'wallet' })).status).toBe(200);
    await refreshed(begun);
  });

  it('refuses codes, other clients and malformed requests, and changes nothing [T362]', async () => {
    const begun = await begin();
    const code = await codeFor();
    const revoked = { client_id: 'wallet', token: begun.refreshToken };
    for (const value of [code, begun.code])
      expect(await revoke({ ...revoked, token: value })).toMatchObject(
        refused('unsupported_token_type', 'only access tokens and refresh tokens can be revoked'),
      );
    for (const [parameters, error, description] of [
      [{ token: begun.refreshToken }, 'invalid_request', 'client_id is missing'],
      [{ ...revoked, client_id: 'other' }, 'invalid_grant', 'the token was issued to another client'],
      [{ client_id: 'wallet' }, 'invalid_request', 'token is missing'],
      [{ client_id: 'wallet', token: '' }, 'invalid_request', 'token is missing'],
      [{ token: 'x'.repeat(16_385) }, 'invalid_request', 'token must have at most 16384 characters'],
    ] as const)
      expect(await revoke(parameters)).toMatchObject(refused(error, description));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const twice = await send(revokeWalletToken, { headers, text: 'token=a&token=b' });
    expect(twice).toMatchObject(refused('invalid_request', 'a parameter must not be sent more than once'));
    const inQuery = await send(revokeWalletToken, { headers, url: '/v1/oauth/revoke?token=x', text: 'token=x' });
    expect(inQuery).toMatchObject(refused('invalid_request', 'token must not be in the query string'));
    const json = await send(revokeWalletToken, { headers: { 'content-type': 'application/json' }, text: '{}' });
    expect(json).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await revoke(revoked, { dpop: 'x' })).toMatchObject({
      ...refused('invalid_dpop_proof', 'DPoP proof: must be a compact JWS'),
      headers: { 'dpop-nonce': expect.any(String) },
    });
    await refreshed(begun);
    expect((await token(codeGrant(code), { dpop: await prove(begun.key) })).status).toBe(200);
  });
});

describe('a wallet that attests itself', () => {
  const details = { client_id: 'attested' };
  const codeOf = async (key: WalletKey) => {
    const { body } = await push<PushedAuthorizationResponse>(authorization(details), await attest('attested', key));
    return issuance.signIn({ ...details, request_uri: body.request_uri });
  };
  const exchange = async (code: string, key: WalletKey) =>
    token<AccessTokenResponse>(codeGrant(code, 'attested'), await attest('attested', key));
  const refreshWith = async (refreshToken: string, headers: Record<string, string>) =>
    token<AccessTokenResponse>({ grant_type: 'refresh_token', refresh_token: refreshToken, ...details }, headers);

  it('exchanges its code with the attested key of the pushed request only [T364]', async () => {
    const key = makeKey();
    const code = await codeOf(key);
    expect(await exchange(code, makeKey())).toMatchObject(
      refused('invalid_grant', 'the code was issued to another instance of the wallet'),
    );
    expect((await exchange(code, key)).status).toBe(200);
  });

  it('cannot name another instance itself [T364]', async () => {
    const [key, other] = [makeKey(), makeKey()];
    const named = { ...authorization(details), attested_instance_jkt: 'x'.repeat(43) };
    const { body } = await push<PushedAuthorizationResponse>(named, await attest('attested', key));
    const code = await issuance.signIn({ ...details, request_uri: body.request_uri });
    expect((await exchange(code, other)).body).toHaveProperty('error', 'invalid_grant');
    expect((await exchange(code, key)).status).toBe(200);
  });

  it('refreshes with its attested key, also without DPoP [T350] [T352]', async () => {
    const key = makeKey();
    const { body } = await exchange(await codeOf(key), key);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 300, refresh_token: expect.any(String) });
    const refreshToken = body.refresh_token!;
    const again = await refreshWith(refreshToken, await attest('attested', key));
    expect(again).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 300 } });
    expect(await collect(again.body.access_token, undefined)).toHaveProperty('name');
    expect(await refreshWith(refreshToken, await attest('attested', makeKey()))).toMatchObject(
      refused('invalid_grant', 'the refresh token was issued to another instance of the wallet'),
    );
    expect(await refreshWith(refreshToken, {})).toMatchObject({
      ...{ status: 401, body: { error: 'invalid_client' } },
    });
    const used = await attest('attested', key);
    expect((await refreshWith(refreshToken, used)).status).toBe(200);
    expect(await refreshWith(refreshToken, used)).toMatchObject({
      status: 401,
      body: {
        error: 'invalid_client',
        error_description: 'the proof of possession of the client attestation has already been used',
      },
    });
    // With a DPoP proof it may be either of them.
    const dpop = await prove(key);
    expect((await refreshWith(refreshToken, { ...(await attest('attested', key)), dpop })).status).toBe(200);
    expect(await refreshWith(refreshToken, { ...(await attest('attested', key)), dpop })).toMatchObject({
      status: 401,
      body: {
        error: 'invalid_client',
        error_description: 'the proof of possession of the client attestation or the DPoP proof has already been used',
      },
    });
  });

  it('refreshes with any DPoP key, to which the new access token is bound [T353] [T710]', async () => {
    const [instance, first, second] = [makeKey(), makeKey(), makeKey()];
    const headers = async (key: WalletKey) => ({ ...(await attest('attested', instance)), dpop: await prove(key) });
    const { body } = await token<AccessTokenResponse>(
      codeGrant(await codeOf(instance), 'attested'),
      await headers(first),
    );
    const again = await refreshWith(body.refresh_token!, await headers(second));
    expect(again).toMatchObject({ status: 200, body: { token_type: 'DPoP', expires_in: 900 } });
    expect(await collect(again.body.access_token, first)).toMatchObject({ status: 401, error: 'invalid_dpop_proof' });
    expect(await collect(again.body.access_token, second)).toHaveProperty('name');
    expect(await collect(body.access_token, first)).toHaveProperty('name');
    expect(await refreshWith(body.refresh_token!, await attest('attested', instance))).toMatchObject(
      refused('invalid_dpop_proof', 'a DPoP proof is required'),
    );
    const stolen = { ...(await attest('attested', makeKey())), dpop: await prove(first) };
    expect(await refreshWith(body.refresh_token!, stolen)).toMatchObject(
      refused('invalid_grant', 'the refresh token was issued to another instance of the wallet'),
    );
    expect((await refreshWith(body.refresh_token!, await headers(first))).status).toBe(200);
  });

  it('must be named by its attestation or by client_id, in every grant and at the revocation endpoint [T713]', async () => {
    const key = makeKey();
    const code = await codeOf(key);
    const unnamed = { ...(await attest('attested', key)), 'oauth-client-attestation': 'x' };
    const refusal = { status: 401, body: { error: 'invalid_client' } };
    const { client_id: _, ...exchanged } = codeGrant(code, 'attested');
    expect(await token(exchanged, unnamed)).toMatchObject(refusal);
    const { body } = await token<AccessTokenResponse>(exchanged, await attest('attested', key));
    const again = { grant_type: 'refresh_token', refresh_token: body.refresh_token! };
    expect(await token(again, unnamed)).toMatchObject(refusal);
    expect(await token(again, await attest('attested', key))).toMatchObject({ status: 200 });
    expect(await revoke({ token: body.refresh_token! }, unnamed)).toMatchObject(refusal);
    expect(await token(again, await attest('attested', key))).toMatchObject({ status: 200 });
  });

  it('refreshes in combined mode with its attested DPoP key [T350]', async () => {
    const key = makeKey();
    const headers = async (at: 'push' | 'token' | 'revoke' = 'token', by = key) => ({
      ...(await attest('combined', by, true)),
      dpop: await prove(by, at),
    });
    const { body: pushed } = await push<PushedAuthorizationResponse>(
      authorization({ client_id: 'combined' }),
      await headers('push'),
    );
    const code = await issuance.signIn({ client_id: 'combined', request_uri: pushed.request_uri });
    const { body } = await token<AccessTokenResponse>(codeGrant(code, 'combined'), await headers());
    const sent = { grant_type: 'refresh_token', refresh_token: body.refresh_token!, client_id: 'combined' };
    expect(await token(sent, await headers())).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
    const other = makeKey();
    expect((await token(sent, await headers('token', other))).body).toHaveProperty('error', 'invalid_grant');
    const revoked = { token: body.refresh_token!, client_id: 'combined' };
    expect(await revoke(revoked, await attest('combined', key, true))).toMatchObject({
      ...refused('invalid_dpop_proof', 'a DPoP proof of the attested key is required of this client'),
    });
    expect((await revoke(revoked, await headers('revoke'))).status).toBe(200);
    expect(await token(sent, await headers())).toMatchObject(NOT_VALID);
  });

  it('authenticates at the revocation endpoint as at the token endpoint [T362]', async () => {
    const key = makeKey();
    const { body } = await exchange(await codeOf(key), key);
    const revoked = { token: body.refresh_token!, client_id: 'attested' };
    expect(await revoke(revoked)).toMatchObject({
      status: 401,
      body: {
        error: 'invalid_client',
        error_description: 'the header OAuth-Client-Attestation is required of this client',
      },
    });
    const { client_id: _, ...unnamed } = revoked;
    expect((await revoke(unnamed, await attest('attested', key))).status).toBe(200);
    expect(await refreshWith(body.refresh_token!, await attest('attested', key))).toMatchObject(NOT_VALID);
  });
});
