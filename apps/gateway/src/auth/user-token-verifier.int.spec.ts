import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from 'jose';
import { AppError } from '@attestry/contracts';
import {
  createLogger,
  Outbound,
  SignInRegistry,
  type PlatformConfig,
  type RequiredClaims,
} from '@attestry/service-kit';
import { UserTokenVerifier } from './user-token-verifier.js';

const AUDIENCE = 'http://management.one.example';
const clock = { time: Date.parse('2026-03-01T10:00:00.000Z'), now: () => new Date(clock.time) };
const seconds = () => Math.floor(clock.time / 1000);
const deadline = () => Date.now() + 20_000;

interface Key {
  kid: string;
  privateKey: CryptoKey;
  jwk: JWK;
}
const makeKey = async (kid: string, alg = 'ES256'): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
};

/** The outside world: a provider's two documents. */
let server: Server;
let issuer: string;
let keys: JWK[];
let calls: string[];
let discovery: () => { status: number; body: string };
let key: Key;
const outbound = new Outbound(true);
let verifier: UserTokenVerifier;

beforeAll(async () => {
  server = createServer((request, response) => {
    calls.push(request.url!);
    const { status, body } = request.url === '/jwks' ? { status: 200, body: JSON.stringify({ keys }) } : discovery();
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await outbound.close();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(async () => {
  key = await makeKey('one');
  keys = [key.jwk];
  calls = [];
  discovery = () => ({ status: 200, body: JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }) });
  verifier = verifierWith({});
});

const verifierWith = (managementOidcRequiredClaims: RequiredClaims): UserTokenVerifier => {
  const config = { managementOidcIssuer: issuer, peopleAudience: AUDIENCE, managementOidcRequiredClaims };
  const logger = createLogger('silent', {});
  return new UserTokenVerifier(config as unknown as PlatformConfig, outbound, new SignInRegistry(), clock, logger);
};
/** Reason and challenge of a 401. */
const refusalOf = async (token: string, by = verifier) => {
  const error: unknown = await by.verify(token, deadline()).catch((thrown: unknown) => thrown);
  if (!(error instanceof AppError)) throw new Error('the token was accepted');
  expect([error.kind, error.check]).toEqual(['unauthenticated', 'check-user-token']);
  return { reason: error.message, challenge: error.headers!['www-authenticate'] };
};

const claims = (over: Record<string, unknown> = {}) => ({
  iss: issuer,
  aud: AUDIENCE,
  sub: 'ada',
  client_id: 'portal',
  iat: seconds(),
  exp: seconds() + 300,
  jti: 'j',
  ...over,
});
const sign = (payload: Record<string, unknown>, header: Record<string, unknown> = {}, by: Key = key) =>
  new SignJWT(payload)
    .setProtectedHeader({ alg: by.jwk.alg!, typ: 'at+jwt', kid: by.kid, ...header })
    .sign(by.privateKey);

describe('access tokens of the OpenID provider', () => {
  it('authenticate the person that they name', async () => {
    const token = await sign(claims({ email: 'ada@x.example', email_verified: true, name: 'Ada', groups: ['x'] }));
    expect(verifier.isOurs(token)).toBe(true);
    const person = {
      issuer,
      subject: 'ada',
      email: 'ada@x.example',
      emailVerified: true,
      name: 'Ada',
    };
    const expiresAt = (seconds() + 300) * 1000;
    expect(await verifier.verify(token, deadline())).toEqual({ person, expiresAt });
    expect(await verifier.verify(token, deadline())).toEqual({ person, expiresAt });
    expect(calls).toEqual(['/.well-known/openid-configuration', '/jwks']);
    const several = await sign(claims({ aud: ['https://else.example', AUDIENCE], email_verified: 'true' }));
    expect(await verifier.verify(several, deadline())).toEqual({
      person: { issuer, subject: 'ada', emailVerified: false },
      expiresAt,
    });
    const prefixed = await sign(claims(), { typ: 'application/at+jwt' });
    expect(await verifier.verify(prefixed, deadline())).toMatchObject({ person: { subject: 'ada' } });
  });

  it('of other issuers are ignored', async () => {
    for (const token of [await sign(claims({ iss: 'https://else.example' })), 'nonsense', 'e30.e30.e30'])
      expect(verifier.isOurs(token)).toBe(false);
    expect(calls).toEqual([]);
  });

  const TYPE = 'The access token must have the typ at+jwt in its header (RFC 9068 section 2.1)';
  const SUBJECT = 'The claim sub of the access token must be 1 to 255 characters long';
  const MACHINE = 'The access token belongs to a machine: its sub is its client; sign in as a person';
  it.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['an ID token', { aud: 'portal' }, { typ: 'JWT' }, TYPE],
    ['an ID token for this audience', {}, { typ: 'JWT' }, TYPE],
    ['a token without a type', {}, { typ: undefined }, TYPE],
    ['a logout token', {}, { typ: 'logout+jwt' }, TYPE],
    [
      'a token for another audience',
      { aud: ['https://else.example'] },
      {},
      `The access token has another audience; request one for ${AUDIENCE}`,
    ],
    [
      'a token without an audience',
      { aud: undefined },
      {},
      `The access token has no claim aud; request one for ${AUDIENCE}`,
    ],
    ['an expired token', { iat: 1, exp: 2 }, {}, 'The access token has expired'],
    ['a token without expiry', { exp: undefined }, {}, 'The access token has no claim exp'],
    ['a token without time', { iat: undefined }, {}, 'The access token has no claim iat'],
    [
      'a token that is not valid yet',
      { nbf: Math.floor(Date.parse('2026-03-02T10:00:00.000Z') / 1000) },
      {},
      'The access token is not valid yet',
    ],
    ['a token with a text as time', { nbf: 'now' }, {}, 'The claim nbf of the access token must be a number'],
    ['a token without a subject', { sub: undefined }, {}, 'The access token has no claim sub'],
    ['a token with an empty subject', { sub: '' }, {}, SUBJECT],
    ['a token with a number as subject', { sub: 7 }, {}, SUBJECT],
    ['a token with a subject that is too long', { sub: 'x'.repeat(256) }, {}, SUBJECT],
    ['a token of a machine client', { sub: 'portal' }, {}, MACHINE],
    ['a token of a machine client that azp names', { sub: 'portal', client_id: undefined, azp: 'portal' }, {}, MACHINE],
    ['a token of which one client is the subject', { sub: 'portal', azp: 'other' }, {}, MACHINE],
    ['a token of which the other client is the subject', { sub: 'other', azp: 'other' }, {}, MACHINE],
    [
      'a token of two clients',
      { azp: 'other' },
      {},
      'The claims client_id and azp of the access token name different clients',
    ],
    [
      'a token without a client',
      { client_id: undefined },
      {},
      'The access token has neither the claim client_id nor azp',
    ],
    [
      'a token with an empty client',
      { client_id: '' },
      {},
      'The claim client_id of the access token must be the name of a client',
    ],
    [
      'a token with a list of clients',
      { azp: ['portal'] },
      {},
      'The claim azp of the access token must be the name of a client',
    ],
  ])('are refused by the name of what is wrong: %s [T765]', async (_what, over, header, reason) => {
    const challenge = `Bearer error="invalid_token", error_description="${reason}"`;
    expect(await refusalOf(await sign(claims(over), header))).toEqual({ reason, challenge });
  });

  it.each([
    ['azp alone', { client_id: undefined, azp: 'portal' }],
    ['client_id and azp', { azp: 'portal' }],
  ])('name their client by %s [T765]', async (_what, over) => {
    expect(await verifier.verify(await sign(claims(over)), deadline())).toMatchObject({ person: { subject: 'ada' } });
  });

  it('are refused without a reason where the signature is not one of the provider [T765]', async () => {
    const forged = await sign(claims({ aud: 'https://else.example' }), { typ: 'JWT' }, await makeKey('one'));
    expect(await verifier.verify(forged, deadline())).toBeUndefined();
  });

  it('without a required claim need another sign-in (RFC 9470) [T766]', async () => {
    const strict = verifierWith({ acr: ['2', 'gold'], amr: ['mfa', 'hwk'], level: [{ a: 1, b: [2] }] });
    const good = { acr: 'gold', amr: ['pwd', 'mfa'], level: { b: [2], a: 1 } };
    expect(await strict.verify(await sign(claims(good)), deadline())).toMatchObject({ person: { subject: 'ada' } });
    expect(
      await strict.verify(await sign(claims({ ...good, level: [0, { a: 1, b: [2] }] })), deadline()),
    ).toMatchObject({ person: { subject: 'ada' } });
    const prefix = 'Bearer error="insufficient_user_authentication", error_description=';
    const acr = 'The claim acr of the access token must be one of these: 2, gold';
    for (const over of [{ acr: '1' }, { acr: undefined }, { acr: 2 }, { acr: null }, { acr: '2 gold' }])
      expect(await refusalOf(await sign(claims({ ...good, ...over })), strict)).toEqual({
        reason: acr,
        challenge: `${prefix}"${acr}", acr_values="2 gold"`,
      });
    const amr = 'The claim amr of the access token must be one of these: mfa, hwk';
    for (const over of [{ amr: ['pwd'] }, { amr: [] }, { amr: [['mfa']] }, { amr: undefined }])
      expect(await refusalOf(await sign(claims({ ...good, ...over })), strict)).toEqual({
        reason: amr,
        challenge: `${prefix}"${amr}"`,
      });
    expect((await refusalOf(await sign(claims({ ...good, level: { a: 1 } })), strict)).reason).toBe(
      'The claim level of the access token must be {?a?:1,?b?:[2]}',
    );
    // A member of Object.prototype is no claim.
    const inherited = verifierWith({ constructor: [Object] });
    expect((await refusalOf(await sign(claims()), inherited)).reason).toContain('The claim constructor');
  });

  it('are refused with a signature of another key', async () => {
    const forger = await makeKey('one');
    expect(await verifier.verify(await sign(claims(), {}, forger), deadline())).toBeUndefined();
    const unsigned = new UnsecuredJWT(claims()).encode();
    expect(await verifier.verify(unsigned, deadline())).toBeUndefined();
    // The public key as a shared secret.
    const secret = new TextEncoder().encode(JSON.stringify(key.jwk));
    const confused = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: key.kid })
      .sign(secret);
    expect(await verifier.verify(confused, deadline())).toBeUndefined();
  });

  it('are refused after their expiry, also when they were verified before', async () => {
    const token = await sign(claims({ exp: seconds() + 30 }));
    expect(await verifier.verify(token, deadline())).toBeDefined();
    clock.time += 40_000;
    expect((await refusalOf(token)).reason).toBe('The access token has expired');
  });

  it('are verified with a new key, and no longer with a withdrawn one', async () => {
    const token = await sign(claims({ exp: seconds() + 86_400 }));
    expect(await verifier.verify(token, deadline())).toBeDefined();
    const next = await makeKey('two');
    keys = [next.jwk];
    clock.time += 6000;
    expect(await verifier.verify(await sign(claims(), {}, next), deadline())).toBeDefined();
    clock.time += 61_000;
    expect(await verifier.verify(token, deadline())).toBeUndefined();
  });

  it('with unknown keys do not cause repeated requests to the provider', async () => {
    expect(await verifier.verify(await sign(claims()), deadline())).toBeDefined();
    const outsider = await makeKey('stranger');
    for (let n = 0; n < 5; n++)
      expect(await verifier.verify(await sign(claims({ jti: `${n}` }), {}, outsider), deadline())).toBeUndefined();
    expect(calls.length).toBeLessThanOrEqual(4);
  });

  it.each([
    [
      'a document of another issuer',
      () => ({ status: 200, body: JSON.stringify({ issuer: 'https://else.example', jwks_uri: 'x' }) }),
    ],
    ['a document without a key set', () => ({ status: 200, body: JSON.stringify({ issuer }) })],
    ['an error', () => ({ status: 500, body: '{}' })],
    ['text that is not JSON', () => ({ status: 200, body: '<html>' })],
    [
      'a document over the size limit',
      () => ({ status: 200, body: JSON.stringify({ issuer, pad: 'x'.repeat(300_000) }) }),
    ],
    ['a redirect', () => ({ status: 302, body: '' })],
  ])('are answered with 503 when discovery returns %s', async (_what, answer) => {
    discovery = answer;
    await expect(verifier.verify(await sign(claims()), deadline())).rejects.toMatchObject({ kind: 'unavailable' });
    // They are verified once discovery works again.
    discovery = () => ({ status: 200, body: JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }) });
    expect(await verifier.verify(await sign(claims()), deadline())).toBeDefined();
  });
});
