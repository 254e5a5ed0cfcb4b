import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { PLATFORM } from '@attestry/keys';
import { waitUntil } from '@attestry/testing';
import { ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { managementService } from '../../index.js';
import { TokenKeys } from '../token-keys/token-keys.js';
import { KeepTokenKeysFresh } from './keep-token-keys-fresh.js';
import { requestTokenKeyRotation, tokenKeyRotationOutcome } from './token-key-request.js';

const LEAD = 600;
const LIFE = 14_400;
const DAY = 86_400;
const clock = stoppedClock();
const pass = (seconds: number) => (clock.time += seconds * 1000);

const service = new ServiceUnderTest(managementService, { clock });
let keys: TokenKeys;
/** A second replica on the same service.engines. */
let replica: TokenKeys;

const start = async () => {
  await service.open();
  keys = service.get(TokenKeys);
};

beforeEach(async () => {
  await start();
  replica = new TokenKeys(service.engines.vault.signingKeys, service.engines.streams, service.config, clock);
  await replica.onModuleInit();
}, 60_000);
afterEach(() => service.remove());

const keepFresh = () => service.get(KeepTokenKeysFresh).runJob();
const token = (by: TokenKeys) => {
  const iat = Math.floor(clock.time / 1000);
  return by.sign({ client_id: 'c', iat, exp: iat + LIFE });
};
const kidOf = (jwt: string): string =>
  (JSON.parse(Buffer.from(jwt.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;
const kids = async () => (await keys.jwks()).keys.map(({ kid }) => kid);
const verifies = async (jwt: string): Promise<boolean> => {
  const set = createLocalJWKSet((await keys.jwks()) as unknown as JSONWebKeySet);
  return jwtVerify(jwt, set, { currentDate: clock.now() }).then(
    () => true,
    () => false,
  );
};

describe('the keys that sign tokens', () => {
  it('are one key, with which all replicas sign', async () => {
    expect(await kids()).toHaveLength(1);
    expect([kidOf(await token(keys)), kidOf(await token(replica))]).toEqual([...(await kids()), ...(await kids())]);
  });

  it('rotate: the new key is published before it signs, on every replica, the previous one until its last token has expired', async () => {
    const [first] = await kids();
    const early = await token(keys);
    const rotation = await keys.rotate();
    const second = rotation.kid;
    expect(rotation).toEqual({
      kid: expect.any(String),
      signsFrom: new Date(clock.time + LEAD * 1000).toISOString(),
      previous: { kid: first, publishedUntil: new Date(clock.time + (LEAD + LIFE + LEAD) * 1000).toISOString() },
    });
    expect(second).not.toBe(first);
    // A repeated request is the same rotation.
    expect(await replica.rotate()).toEqual(rotation);
    expect(await kids()).toEqual([first, second]);
    pass(LEAD - 1);
    const last = [await token(keys), await token(replica)];
    expect(last.map(kidOf)).toEqual([first, first]);
    pass(1);
    const next = [await token(keys), await token(replica)];
    expect(next.map(kidOf)).toEqual([second, second]);
    pass(LIFE - 2);
    await keepFresh();
    for (const jwt of [...last, ...next]) expect(await verifies(jwt)).toBe(true);
    expect(await verifies(early)).toBe(false);
    pass(LEAD + 2);
    await keepFresh();
    expect(await kids()).toEqual([second]);
    expect(
      (await service.engines.vault.signingKeys.listSigningKeys(PLATFORM, 'token')).map(({ keyId }) => keyId),
    ).toEqual([second]);
    expect(kidOf(await token(replica))).toBe(second);
  });

  it('rotate in a replica that has just signed', async () => {
    const { kid } = await keys.rotate();
    for (let second = 0; second < LEAD; second += 10) {
      await token(replica);
      pass(10);
    }
    expect(kidOf(await token(replica))).toBe(kid);
  });

  it('rotate automatically after 90 days, once', async () => {
    const [first] = await kids();
    pass(90 * DAY - 1);
    await keepFresh();
    expect(await kids()).toEqual([first]);
    pass(1);
    await Promise.all([keepFresh(), keepFresh()]);
    await keepFresh();
    expect(await kids()).toHaveLength(2);
    expect(kidOf(await token(keys))).toBe(first);
    pass(LEAD);
    expect(kidOf(await token(keys))).not.toBe(first);
  });

  it('are unchanged after a restart during a rotation', async () => {
    await keys.rotate();
    const before = await kids();
    await service.close();
    await start();
    expect(await kids()).toEqual(before);
    expect(kidOf(await token(keys))).toBe(before[0]);
  }, 30_000);

  it('rotate on a request in the data folder, once', async () => {
    const id = await requestTokenKeyRotation(service.folder);
    const rotation = await waitUntil(() => tokenKeyRotationOutcome(service.folder, id));
    expect(await kids()).toEqual([rotation.previous.kid, rotation.kid]);
    const again = await requestTokenKeyRotation(service.folder);
    expect(await waitUntil(() => tokenKeyRotationOutcome(service.folder, again))).toEqual(rotation);
  });
});
