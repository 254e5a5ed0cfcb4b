/** @engines embedded postgres */
import { createHash, randomUUID } from 'node:crypto';
import {
  createWallet,
  exchangeToken,
  issueCredential,
  issueNonce,
  pushAuthorization,
  recordSubject,
  type AccessTokenResponse,
  type CredentialResponse,
  type NonceResponse,
  type OperationRecordMessage,
  type PreAuthorizedOfferRequest,
  type PushedAuthorizationResponse,
} from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { athOf, IssuanceUnderTest, makeWalletKey as makeKey, type WalletKey } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import type { OpenIdSettings } from '../../settings/openid-settings/openid-settings.events.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import { wallets, walletsStream } from '../registered-wallets/wallets.state.js';
import { parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';

const { TENANT, OTHER: STRICT, BACK, WALLET, PRE_AUTHORIZED } = IssuanceUnderTest;
const issuance = new IssuanceUnderTest(issuanceService, { subjects: [recordSubject('record', 'issuance')] });
const { admin, baseOf, codeGrant, send } = issuance;
const configurations = new Map<string, string>();
const events = { tenantId: TENANT, requestId: 'spec', actor: 'spec', operation: 'spec' };

beforeAll(async () => {
  await issuance.open();
  for (const tenantId of [TENANT, STRICT]) {
    const claimMappings = { level: { defaultValue: 3 } };
    configurations.set(tenantId, await issuance.configure('Course', { claimMappings }, tenantId));
    await admin(createWallet, { body: WALLET }, tenantId);
  }
  await changeSettings(STRICT, { dpopNonceRequired: true });
});
beforeEach(() => {
  issuance.ahead = 0;
});
afterAll(() => issuance.remove());

const changeSettings = (tenantId: string, data: OpenIdSettings) =>
  issuance.engines.streams.runDecision(
    openIdSettings,
    openIdSettingsStream(tenantId),
    () => [{ type: 'OpenIdSettingsChanged' as const, data }],
    { ...events, tenantId },
  );

// --- the wallet

const OPERATIONS = { token: exchangeToken, credential: issueCredential, push: pushAuthorization } as const;
const prove = (key: WalletKey, at: keyof typeof OPERATIONS, claims: object = {}, tenantId = TENANT) =>
  issuance.proveDpop(key, OPERATIONS[at], claims, tenantId);

const offer = (more: Partial<PreAuthorizedOfferRequest> = {}, tenantId = TENANT) =>
  issuance.offer({ credentials: [configurations.get(tenantId)!], ...more }, tenantId);
const withProof = (dpop: string | undefined): Record<string, string> => (dpop === undefined ? {} : { dpop });
const redeem = (code: string, dpop?: string, more: Record<string, string> = {}, tenantId = TENANT) =>
  issuance.redeem(code, withProof(dpop), more, tenantId);
const nonceFor = (tenantId = TENANT) => send<NonceResponse>(issueNonce, {}, tenantId);

/** A bound token from an offer. */
const bind = async (key = makeKey()) => {
  const { body } = await redeem((await offer()).code, await prove(key, 'token'));
  return { key, token: body.access_token };
};
interface Collecting {
  dpop?: string;
  scheme?: string;
  nonce?: string;
  tenantId?: string;
  body?: object;
}
const collect = async (token: string, { dpop, scheme = 'DPoP', nonce, tenantId = TENANT, body }: Collecting) => {
  const jwt = [await issuance.proveKey(makeKey(), tenantId, { nonce })];
  return issuance.sendJson<CredentialResponse>(
    issueCredential,
    body ?? { credential_configuration_id: configurations.get(tenantId), proofs: { jwt } },
    { authorization: `${scheme} ${token}`, ...withProof(dpop) },
    tenantId,
  );
};
const authorization = (parameters: Record<string, string> = {}) =>
  issuance.authorization({ scope: 'jwt_vc_json:Course', ...parameters });
/** Authorization code of a person who signed in, for a request with these parameters. */
const signIn = (parameters: Record<string, string> = {}) => issuance.signIn(authorization(parameters));
const exchangeCode = (code: string, dpop?: string, clientId = 'wallet') =>
  issuance.sendForm<AccessTokenResponse>(exchangeToken, codeGrant(code, clientId), withProof(dpop));

const refusedProof = (description: string) => ({ error: 'invalid_dpop_proof', error_description: description });
const USED = refusedProof('the DPoP proof has already been used');
const NONCE = expect.stringMatching(/^[0-9a-z]+\.[\w-]{22}\.[\w-]+\.[\w-]{43}$/);

describe('a token request with a DPoP proof', () => {
  it('gets a token that is bound to the key of the proof, with either grant [T253]', async () => {
    const key = makeKey();
    const { code } = await offer();
    for (const answer of [
      await redeem(code, await prove(key, 'token')),
      await exchangeCode(await signIn(), await prove(key, 'token', { ath: 'ignored here' })),
    ]) {
      expect(answer).toMatchObject({
        status: 200,
        headers: { 'dpop-nonce': NONCE },
        body: { token_type: 'DPoP', expires_in: 900, scope: 'jwt_vc_json:Course' },
      });
      const { sessionId } = parseBearerValue(answer.body.access_token)!;
      const { state } = await issuance.engines.streams.load(issuanceSession, issuanceSessionStream(TENANT, sessionId));
      expect(state).toMatchObject({ status: 'redeemed', accessToken: { jkt: key.jkt } });
      const dpop = await prove(key, 'credential', { ath: athOf(answer.body.access_token) });
      expect(await collect(answer.body.access_token, { dpop })).toMatchObject({
        status: 200,
        headers: { 'dpop-nonce': NONCE },
        body: { credentials: [{ credential: expect.any(String) }] },
      });
    }
  });

  it('without one gets a Bearer token of 300 s, and no nonce [T253]', async () => {
    const answer = await redeem((await offer()).code);
    expect(answer).toMatchObject({ headers: {}, body: { token_type: 'Bearer', expires_in: 300 } });
    const issued = await collect(answer.body.access_token, { scheme: 'Bearer' });
    expect(issued).toMatchObject({ status: 200, headers: {} });
  });

  it('that is invalid or empty is refused, counts as no attempt, spends nothing and is recorded [T241]', async () => {
    const { id, code, transactionCode } = await offer({
      transactionCodeConfiguration: { inputMode: 'numeric', description: 'PIN' },
    });
    const key = makeKey();
    for (const [dpop, description] of [
      ['', 'DPoP proof: must be a compact JWS'],
      [`${await prove(key, 'token')}, ${await prove(key, 'token')}`, 'DPoP proof: must be a compact JWS'],
      [await prove(key, 'credential'), `DPoP proof: htu must be ${baseOf(TENANT)}/v1/oauth/token`],
      [await prove(key, 'token', {}, STRICT), `DPoP proof: htu must be ${baseOf(TENANT)}/v1/oauth/token`],
      [
        await prove(key, 'token', { htcd: athOf('another payload') }),
        'DPoP proof: htcd must be the SHA-256 digest of the request payload in base64',
      ],
    ] as const) {
      const requestId = `request-${issuance.requests + 1}`;
      expect(await redeem(code, dpop, { tx_code: '000000' })).toMatchObject({
        status: 400,
        headers: { 'dpop-nonce': NONCE },
        body: refusedProof(description),
      });
      const records = () => issuance.messages.map(({ data }) => data as OperationRecordMessage);
      const record = await waitUntil(() => records().find((it) => it.requestId === requestId), { what: 'the record' });
      expect(record).toMatchObject({
        outcome: 'FAIL',
        object: { type: 'session', id },
        metadata: { error: { status: 400, code: 'invalid_dpop_proof', message: description } },
      });
    }
    const answer = await redeem(code, await prove(key, 'token'), { tx_code: transactionCode! });
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
  });

  it('has a digest of its payload, if it names one [T251]', async () => {
    const { code } = await offer();
    const text = new URLSearchParams({ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': code }).toString();
    const htcd = createHash('sha256').update(text).digest('base64');
    expect((await redeem(code, await prove(makeKey(), 'token', { htcd }))).status).toBe(200);
  });

  it('uses the proof once, also at the same time, and only one code with it [T252]', async () => {
    const dpop = await prove(makeKey(), 'token');
    const codes = await Promise.all(Array.from({ length: 5 }, async () => (await offer()).code));
    const answers = await Promise.all(codes.map((code) => redeem(code, dpop)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body } of answers) if (status !== 200) expect([status, body]).toEqual([400, USED]);
    const left = codes.filter((_, index) => answers[index]!.status !== 200);
    for (const code of left) expect((await redeem(code, await prove(makeKey(), 'token'))).status).toBe(200);
    // The window is longer than the life of a code; at its end `iat` refuses it.
    issuance.ahead = 290_000;
    expect((await redeem((await offer()).code, dpop)).body).toEqual(USED);
    issuance.ahead = 310_000;
    expect(await redeem((await offer()).code, dpop)).toMatchObject({
      status: 400,
      body: { error_description: expect.stringContaining('iat must be') },
    });
  });

  it('leaves the same jti to other keys [T252]', async () => {
    const jti = randomUUID();
    const key = makeKey();
    expect((await redeem((await offer()).code, await prove(key, 'token', { jti }))).status).toBe(200);
    expect((await redeem((await offer()).code, await prove(key, 'token', { jti }))).body).toEqual(USED);
    expect((await redeem((await offer()).code, await prove(makeKey(), 'token', { jti }))).status).toBe(200);
  });
});

describe('an authorization request with dpop_jkt', () => {
  const REQUIRED = refusedProof('a DPoP proof of the key that dpop_jkt of the authorization request named is required');
  it('needs a proof of that key at the token endpoint, and a refusal spends no code [T240]', async () => {
    const key = makeKey();
    const code = await signIn({ dpop_jkt: key.jkt });
    expect(await exchangeCode(code)).toMatchObject({ status: 400, body: REQUIRED });
    expect(await exchangeCode(code, await prove(makeKey(), 'token'))).toMatchObject({ status: 400, body: REQUIRED });
    expect(await exchangeCode(code, await prove(key, 'token'))).toMatchObject({
      status: 200,
      body: { token_type: 'DPoP' },
    });
  });

  it('is refused with anything but a thumbprint [T240]', async () => {
    const refused = await issuance.authorize(authorization({ dpop_jkt: 'x'.repeat(42) }));
    expect(Object.fromEntries(refused.searchParams)).toMatchObject({
      error: 'invalid_request',
      error_description: 'dpop_jkt must be the SHA-256 thumbprint of a key in base64url',
    });
  });
});

describe('a pushed authorization request with a DPoP proof', () => {
  const push = (dpop?: string, more: Record<string, string> = {}, tenantId = TENANT) =>
    issuance.sendForm<PushedAuthorizationResponse>(pushAuthorization, authorization(more), withProof(dpop), tenantId);

  it('binds its code to the key of the proof, as dpop_jkt does [T240, T290]', async () => {
    const key = makeKey();
    for (const more of [{}, { dpop_jkt: key.jkt }] as Record<string, string>[]) {
      const { headers, body } = await push(await prove(key, 'push'), more);
      expect(headers).toMatchObject({ 'dpop-nonce': NONCE });
      const code = await issuance.signIn({ client_id: 'wallet', request_uri: body.request_uri });
      expect(await exchangeCode(code, await prove(makeKey(), 'token'))).toMatchObject({
        status: 400,
        body: { error: 'invalid_dpop_proof' },
      });
      expect((await exchangeCode(code, await prove(key, 'token'))).body.token_type).toBe('DPoP');
    }
  });

  it('is refused with another dpop_jkt, and with a proof that is invalid, used, or without a nonce that is demanded [T290, T252]', async () => {
    const key = makeKey();
    const dpop = await prove(key, 'push');
    expect(await push(dpop, { dpop_jkt: makeKey().jkt })).toMatchObject({
      status: 400,
      headers: { 'dpop-nonce': NONCE },
      body: refusedProof('the DPoP proof must be made with the key that dpop_jkt names'),
    });
    expect((await push(dpop)).body.request_uri).toEqual(expect.any(String));
    expect(await push(dpop)).toMatchObject({ status: 400, headers: { 'dpop-nonce': NONCE }, body: USED });
    expect(await push('')).toMatchObject({
      status: 400,
      body: refusedProof('DPoP proof: must be a compact JWS'),
    });
    expect(await push(await prove(key, 'token'))).toMatchObject({
      status: 400,
      body: refusedProof(`DPoP proof: htu must be ${baseOf(TENANT)}/v1/oauth/par`),
    });
    expect((await push(await prove(key, 'push', {}, STRICT), {}, STRICT)).body).toMatchObject({
      error: 'use_dpop_nonce',
    });
  });
});

describe('a registered wallet with dpopRequired', () => {
  it('needs a proof of any key with either grant, and no other client does [T240]', async () => {
    const registered = { id: randomUUID(), name: 'Bound', clientId: 'bound-wallet', redirectUris: [BACK] };
    await issuance.engines.streams.runDecision(
      wallets,
      walletsStream(TENANT),
      () => [{ type: 'WalletRegistered' as const, data: { ...registered, dpopRequired: true, disabled: false } }],
      events,
    );
    const required = { status: 400, body: refusedProof('a DPoP proof is required of this client') };
    const code = await signIn({ client_id: 'bound-wallet' });
    expect(await exchangeCode(code, undefined, 'bound-wallet')).toMatchObject(required);
    expect((await exchangeCode(code, await prove(makeKey(), 'token'), 'bound-wallet')).status).toBe(200);
    const made = await offer();
    expect(await redeem(made.code, undefined, { client_id: 'bound-wallet' })).toMatchObject(required);
    expect((await redeem(made.code, undefined, { client_id: 'another' })).body.token_type).toBe('Bearer');
    expect((await exchangeCode(await signIn())).body.token_type).toBe('Bearer');
  });
});

describe('a token that is bound to a key', () => {
  const challenge = (error: string, description: string) => ({
    'www-authenticate': `DPoP error="${error}", error_description="${description}", algs="ES256"`,
  });
  const refused = (description: string, error = 'invalid_dpop_proof') => ({
    status: 401,
    headers: challenge(error, description),
    body: { error, error_description: description },
  });

  it('is refused as a Bearer token, with or without a proof [T87] [T254]', async () => {
    const { key, token } = await bind();
    const expected = refused(
      'the access token is bound to a DPoP key: send it with the scheme DPoP and a proof',
      'invalid_token',
    );
    expect(await collect(token, { scheme: 'Bearer' })).toMatchObject(expected);
    const dpop = await prove(key, 'credential', { ath: athOf(token) });
    expect(await collect(token, { scheme: 'bearer', dpop })).toMatchObject(expected);
    expect((await collect(token, { scheme: 'dpop', dpop })).status).toBe(200);
  });

  it('needs a proof of its key, for it and this endpoint [T87] [T250] [T254]', async () => {
    const { key, token } = await bind();
    const other = await bind();
    const ath = athOf(token);
    const badAth = 'DPoP proof: ath must be the SHA-256 digest of the access token in base64url';
    for (const [dpop, description] of [
      [undefined, 'a DPoP proof is required'],
      ['', 'DPoP proof: must be a compact JWS'],
      [await prove(other.key, 'credential', { ath }), 'the DPoP proof must be made with the key of the access token'],
      [await prove(key, 'credential'), badAth],
      [await prove(key, 'credential', { ath: athOf(other.token) }), badAth],
      [await prove(key, 'token', { ath }), `DPoP proof: htu must be ${baseOf(TENANT)}/v1/openid/credential`],
      [await prove(key, 'credential', { ath, htm: 'GET' }), 'DPoP proof: htm must be POST'],
    ] as const)
      expect(await collect(token, { dpop })).toMatchObject(refused(description));
    // The key of the other token does not make that token usable.
    expect(
      await collect(other.token, { dpop: await prove(key, 'credential', { ath: athOf(other.token) }) }),
    ).toMatchObject(refused('the DPoP proof must be made with the key of the access token'));
  });

  it('has challenges that begin with DPoP, also when it has expired or does not cover the credential [T254]', async () => {
    const { key, token } = await bind();
    issuance.ahead = 901_000;
    const ended = refused('the access token is not valid', 'invalid_token');
    expect(await collect(token, { scheme: 'Bearer' })).toMatchObject(ended);
    const dpop = await prove(key, 'credential', { ath: athOf(token) });
    expect(await collect(token, { dpop })).toMatchObject({
      ...ended,
      headers: { ...ended.headers, 'dpop-nonce': NONCE },
    });
    issuance.ahead = 0;
    const unknown = token.replace(/^./, (it) => (it === 'A' ? 'B' : 'A'));
    expect(await collect(unknown, { dpop })).toMatchObject(ended);
    expect(await collect(unknown, { scheme: 'Bearer' })).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringMatching(/^Bearer error="invalid_token"/) },
    });
  });

  it('is no other than this: a Bearer token is refused with the scheme DPoP [T87] [T254]', async () => {
    const token = (await redeem((await offer()).code)).body.access_token;
    const description = 'the access token is not bound to a DPoP key: send it with the scheme Bearer';
    const dpop = await prove(makeKey(), 'credential', { ath: athOf(token) });
    expect(await collect(token, { dpop })).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': `Bearer error="invalid_token", error_description="${description}"` },
      body: { error: 'invalid_token', error_description: description },
    });
    expect((await collect(token, { scheme: 'Bearer' })).status).toBe(200);
  });

  it('is used once with each proof, also at the same time [T252]', async () => {
    const { key, token } = await bind();
    const dpop = await prove(key, 'credential', { ath: athOf(token) });
    const answers = await Promise.all(Array.from({ length: 5 }, () => collect(token, { dpop })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers)
      if (answer.status !== 200) expect(answer).toMatchObject(refused(USED.error_description));
  });

  it('uses up the proof of a request that is refused, and names what was used before [T252]', async () => {
    const { key, token } = await bind();
    const ath = athOf(token);
    const dpop = await prove(key, 'credential', { ath });
    expect(await collect(token, { dpop, body: {} })).toMatchObject({
      status: 400,
      headers: { 'dpop-nonce': NONCE },
      body: { error: 'invalid_credential_request' },
    });
    expect(await collect(token, { dpop })).toMatchObject(refused(USED.error_description));

    const nonce = (await nonceFor()).body.c_nonce;
    expect((await collect(token, { nonce, dpop: await prove(key, 'credential', { ath }) })).status).toBe(200);
    const second = await prove(key, 'credential', { ath });
    expect(await collect(token, { nonce, dpop: second })).toMatchObject({
      status: 400,
      body: { error: 'invalid_nonce' },
    });
    expect(await collect(token, { dpop: second })).toMatchObject(refused(USED.error_description));
  });
});

describe('a nonce for DPoP proofs', () => {
  const proofWith = (key: WalletKey, at: keyof typeof OPERATIONS, claims: object) => prove(key, at, claims, STRICT);
  const dpopNonce = async (tenantId = STRICT) => (await nonceFor(tenantId)).headers['dpop-nonce']!;

  it('is demanded of proofs alone, by a tenant that requires it [T255]', async () => {
    const key = makeKey();
    const { code } = await offer({}, STRICT);
    const first = await redeem(code, await proofWith(key, 'token', {}), {}, STRICT);
    expect(first).toMatchObject({
      status: 400,
      headers: { 'dpop-nonce': NONCE },
      body: {
        error: 'use_dpop_nonce',
        error_description: 'the DPoP proof must have a nonce of the header DPoP-Nonce',
      },
    });
    const nonce = first.headers['dpop-nonce']!;
    const { body, headers } = await redeem(code, await proofWith(key, 'token', { nonce }), {}, STRICT);
    expect(body.token_type).toBe('DPoP');

    const token = body.access_token;
    const ath = athOf(token);
    const description = 'the DPoP proof must have a nonce of the header DPoP-Nonce';
    expect(await collect(token, { tenantId: STRICT, dpop: await proofWith(key, 'credential', { ath }) })).toMatchObject(
      {
        status: 401,
        headers: {
          'dpop-nonce': NONCE,
          'www-authenticate': `DPoP error="use_dpop_nonce", error_description="${description}", algs="ES256"`,
        },
        body: { error: 'use_dpop_nonce' },
      },
    );
    // A nonce may be used with several proofs.
    for (const nonce of [headers['dpop-nonce']!, headers['dpop-nonce']!]) {
      const dpop = await proofWith(key, 'credential', { ath, nonce });
      expect((await collect(token, { tenantId: STRICT, dpop })).status).toBe(200);
    }
    const plain = await redeem((await offer({}, STRICT)).code, undefined, {}, STRICT);
    expect(plain.body.token_type).toBe('Bearer');
  });

  it('must be current, of this tenant and for this use, whether it is demanded or not [T255]', async () => {
    const unknown = {
      status: 400,
      headers: { 'dpop-nonce': NONCE },
      body: { error: 'use_dpop_nonce', error_description: 'the nonce of the DPoP proof is unknown or has expired' },
    };
    const { code } = await offer({}, STRICT);
    for (const nonce of ['', 'x', await dpopNonce(TENANT), (await nonceFor(STRICT)).body.c_nonce])
      expect(await redeem(code, await proofWith(makeKey(), 'token', { nonce }), {}, STRICT)).toMatchObject(unknown);
    const nonce = await dpopNonce(TENANT);
    const { code: other } = await offer();
    issuance.ahead = 301_000;
    expect(await redeem(other, await prove(makeKey(), 'token', { nonce }))).toMatchObject(unknown);
    issuance.ahead = 0;
    expect((await redeem(other, await prove(makeKey(), 'token', { nonce }))).status).toBe(200);
    // A nonce for DPoP is no c_nonce.
    const { key, token } = await bind();
    const dpop = await prove(key, 'credential', { ath: athOf(token) });
    expect(await collect(token, { dpop, nonce })).toMatchObject({ status: 400, body: { error: 'invalid_nonce' } });
  });
});
