import { exportJWK, generateKeyPair, jwtVerify, SignJWT, type JWK } from 'jose';
import { ProviderKeys } from './provider-keys.js';

const DEADLINE = Infinity;
let published: JWK[] = [];
let requests = 0;
let failure: Error | undefined;
let keys: ProviderKeys;

const makeKey = async (kid: string) => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return { jwk: { ...(await exportJWK(publicKey)), kid }, privateKey, kid };
};
const tokenBy = ({ kid, privateKey }: Awaited<ReturnType<typeof makeKey>>) =>
  new SignJWT({ sub: 'zoe' }).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);
const verify = async (token: string, now: number) =>
  keys
    .verify(now, DEADLINE, (set) => jwtVerify(token, set))
    .then(
      ({ payload }) => payload.sub,
      (error: Error) => error.message,
    );

beforeEach(() => {
  [published, requests, failure] = [[], 0, undefined];
  keys = new ProviderKeys(async () => {
    requests += 1;
    if (failure) throw failure;
    return { keys: published };
  });
});

const UNKNOWN = 'no applicable key found in the JSON Web Key Set';

describe('the keys of a provider', () => {
  it('are requested once, and again after five minutes', async () => {
    const one = await makeKey('one');
    published = [one.jwk];
    const token = await tokenBy(one);
    const results = await Promise.all([0, 0, 0].map((now) => verify(token, now)));
    expect([...results, await verify(token, 299_999)]).toEqual(['zoe', 'zoe', 'zoe', 'zoe']);
    expect(requests).toBe(1);
    published = [];
    expect(await verify(token, 300_000)).toBe(UNKNOWN);
    expect(requests).toBe(2);
  });

  it('are requested again for an unknown key, at most every 5 s [T756]', async () => {
    const [one, two] = [await makeKey('one'), await makeKey('two')];
    published = [one.jwk];
    expect(await verify(await tokenBy(one), 0)).toBe('zoe');
    published = [two.jwk];
    expect(await verify(await tokenBy(two), 4999)).toBe(UNKNOWN);
    expect(requests).toBe(1);
    const many = await Promise.all(Array.from({ length: 5 }, async () => verify(await tokenBy(two), 5000)));
    expect(many).toEqual(Array(5).fill('zoe'));
    expect(requests).toBe(2);
    expect(await verify(await tokenBy(one), 9999)).toBe(UNKNOWN);
    expect(requests).toBe(2);
  });

  it('stay in use while they are fresh and the provider fails, which is asked at most every 5 s [T756]', async () => {
    const [one, two] = [await makeKey('one'), await makeKey('two')];
    published = [one.jwk];
    expect(await verify(await tokenBy(one), 0)).toBe('zoe');
    failure = new Error('down');
    expect(await verify(await tokenBy(two), 6000)).toBe('down');
    for (const now of [6000, 7000, 10_999]) expect(await verify(await tokenBy(two), now)).toBe(UNKNOWN);
    expect(await verify(await tokenBy(one), 7000)).toBe('zoe');
    expect(requests).toBe(2);
  });
});
