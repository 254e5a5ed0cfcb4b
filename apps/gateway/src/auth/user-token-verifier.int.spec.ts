import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from 'jose';
import { createLogger, Outbound, SignInRegistry, type PlatformConfig } from '@attestry/service-kit';
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
  const config = {
    managementOidcIssuer: issuer,
    peopleAudience: AUDIENCE,
  } as unknown as PlatformConfig;
  verifier = new UserTokenVerifier(config, outbound, new SignInRegistry(), clock, createLogger('silent', {}));
});

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
    expect(await verifier.verify(token, deadline())).toEqual(person);
    expect(await verifier.verify(token, deadline())).toEqual(person);
    expect(calls).toEqual(['/.well-known/openid-configuration', '/jwks']);
    const several = await sign(claims({ aud: ['https://else.example', AUDIENCE], email_verified: 'true' }));
    expect(await verifier.verify(several, deadline())).toEqual({ issuer, subject: 'ada', emailVerified: false });
    const prefixed = await sign(claims(), { typ: 'application/at+jwt' });
    expect(await verifier.verify(prefixed, deadline())).toMatchObject({ subject: 'ada' });
  });

  it('of other issuers are ignored', async () => {
    for (const token of [await sign(claims({ iss: 'https://else.example' })), 'nonsense', 'e30.e30.e30'])
      expect(verifier.isOurs(token)).toBe(false);
    expect(calls).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['an ID token', { aud: 'portal' }, { typ: 'JWT' }],
    ['an ID token for this audience', {}, { typ: 'JWT' }],
    ['a token without a type', {}, { typ: undefined }],
    ['a logout token', {}, { typ: 'logout+jwt' }],
    ['a token for another audience', { aud: 'https://else.example' }, {}],
    ['a token without an audience', { aud: undefined }, {}],
    ['an expired token', { iat: 1, exp: 2 }, {}],
    ['a token without expiry', { exp: undefined }, {}],
    ['a token that is not valid yet', { nbf: Math.floor(Date.parse('2026-03-02T10:00:00.000Z') / 1000) }, {}],
    ['a token without a subject', { sub: undefined }, {}],
    ['a token with an empty subject', { sub: '' }, {}],
    ['a token with a subject that is too long', { sub: 'x'.repeat(256) }, {}],
    ['a token of a machine client', { sub: 'portal' }, {}],
    ['a token without a client', { client_id: undefined }, {}],
  ])('are refused: %s', async (_what, over, header) => {
    expect(await verifier.verify(await sign(claims(over), header), deadline())).toBeUndefined();
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
    expect(await verifier.verify(token, deadline())).toBeUndefined();
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
