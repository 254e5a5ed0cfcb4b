import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { OperationContext } from '@attestry/contracts';
import type { PlatformConfig, ServiceClient } from '@attestry/service-kit';
import { TokenVerifier } from './token-verifier.js';

const ISSUER = 'https://auth.example';
const config = {
  publicScheme: 'https',
  environments: [{ authorizationServerDomain: 'auth.example' }],
} as unknown as PlatformConfig;

interface Key {
  jwk: JWK;
  privateKey: CryptoKey;
}
const makeKey = async (kid: string): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
};

let one: Key;
let two: Key;
let published: Key[];
let calls: OperationContext[];
let answers: boolean;
let clock: { time: number; now: () => Date };
let verifier: TokenVerifier;
beforeAll(async () => {
  [one, two] = await Promise.all([makeKey('one'), makeKey('two')]);
});
beforeEach(() => {
  published = [one];
  calls = [];
  answers = true;
  clock = { time: Date.now(), now: () => new Date(clock.time) };
  const services = {
    call: (_operation: unknown, _request: unknown, context: OperationContext) => {
      calls.push(context);
      return answers
        ? Promise.resolve({ keys: published.map(({ jwk }) => jwk) })
        : Promise.reject(new Error('management is away'));
    },
  } as unknown as ServiceClient;
  verifier = new TokenVerifier(services, config, clock);
});

let tokens = 0;
const sign = ({ jwk, privateKey }: Key, seconds = 14_400, claims: object = {}) =>
  new SignJWT({ client_id: 'client', jti: `token-${++tokens}`, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: jwk.kid! })
    .setIssuer(ISSUER)
    .setAudience('https://acme.example')
    .setExpirationTime(Math.floor(clock.time / 1000) + seconds)
    .sign(privateKey);
const verify = (token: string) => verifier.verify(token, Date.now() + 5000);
const pass = (seconds: number) => (clock.time += seconds * 1000);

describe('the verifier of tokens', () => {
  it('fetches the keys within the deadline of the call with the token', async () => {
    const deadline = Date.now() + 1234;
    expect(await verifier.verify('e30.e30.e30', deadline)).toBeUndefined();
    expect(calls.map((context) => context.deadline)).toEqual([deadline]);
  });

  it('returns the claims of the token, with its id and the id of its secret', async () => {
    expect(await verify(await sign(one, 60, { jti: 'id', secret_id: 'secret' }))).toEqual({
      clientId: 'client',
      audience: 'https://acme.example',
      issuer: ISSUER,
      expiresAt: (Math.floor(clock.time / 1000) + 60) * 1000,
      tokenId: 'id',
      secretId: 'secret',
    });
  });

  it('returns the person of a token that has no client, with the grant of the exchanged token', async () => {
    const member = { client_id: undefined, sub: '11111111-1111-4111-8111-111111111111' };
    const expected = {
      userId: member.sub,
      audience: 'https://acme.example',
      issuer: ISSUER,
      expiresAt: (Math.floor(clock.time / 1000) + 60) * 1000,
    };
    expect(await verify(await sign(one, 60, member))).toEqual(expected);
    expect(await verify(await sign(one, 60, { ...member, grant_id: 'g' }))).toEqual({ ...expected, grantId: 'g' });
    // With a client it is the client's, whatever its subject; without a subject of a person it belongs to none.
    expect(await verify(await sign(one, 60, { sub: member.sub }))).toMatchObject({ clientId: 'client' });
    for (const over of [{ client_id: undefined }, { ...member, sub: 'client' }, { ...member, client_id: 7 }])
      expect(await verify(await sign(one, 60, over))).toBeUndefined();
  });

  it('verifies with a new key from its first token, and with the previous key until its tokens expire', async () => {
    const before = await sign(one);
    expect(await verify(before)).toBeDefined();
    pass(10);
    published = [one, two];
    expect(await verify(await sign(two))).toBeDefined();
    expect(await verify(await sign(one))).toBeDefined();
    expect(await verify(before)).toBeDefined();
  });

  it('drops a retired key within minutes, also for tokens that it has verified', async () => {
    const forged = await sign(one, 86_400);
    expect(await verify(forged)).toBeDefined();
    published = [two];
    pass(301);
    // This call uses the old set and has it fetched, the next one does not wait for it.
    await verify(await sign(one, 86_400));
    await new Promise((resolve) => setImmediate(resolve));
    pass(301);
    expect(await verify(forged)).toBeUndefined();
    expect(await verify(await sign(one))).toBeUndefined();
    expect(await verify(await sign(two))).toBeDefined();
  });

  it('continues with its cached keys for 15 minutes while management is unreachable', async () => {
    expect(await verify(await sign(one))).toBeDefined();
    answers = false;
    pass(14 * 60);
    expect(await verify(await sign(one))).toBeDefined();
    pass(2 * 60);
    await expect(verify(await sign(one))).rejects.toThrow('management is away');
  });

  it('caches no token beyond its expiry', async () => {
    const token = await sign(one, 60);
    expect(await verify(token)).toBeDefined();
    pass(61);
    expect(await verify(token)).toBeUndefined();
  });

  it('fetches the keys once for many concurrent calls', async () => {
    const batch = await Promise.all(Array.from({ length: 20 }, () => sign(one)));
    expect((await Promise.all(batch.map(verify))).every(Boolean)).toBe(true);
    expect(calls).toHaveLength(1);
  });
});
