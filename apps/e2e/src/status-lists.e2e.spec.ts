import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  PLATFORM_START_MS,
  sharedPlatform,
  verifyJwtVc,
  verifySdJwt,
  waitUntil,
  Wallet,
  makeHolderKey,
  type HolderKey,
  type TenantUnderTest,
} from '@attestry/testing';
import { decodeJwt, decodeProtectedHeader } from 'jose';

const MEDIA_TYPE = 'application/statuslist+jwt';
let tenant: TenantUnderTest;
let other: TenantUnderTest;

interface Status {
  status_list: { idx: number; uri: string };
}
const statusOf = (credential: string): Status['status_list'] => {
  const { status } = decodeJwt<{ status: Status }>(credential.split('~', 1)[0]!);
  return status.status_list;
};

beforeAll(async () => {
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'status-college');
  other = await createTenantUnderTest(platform, management, 'status-school');
}, PLATFORM_START_MS);

const request = (type: string, more: object = {}) => ({
  ...{ type, name: type, issuer: { name: 'Example University' } },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  ...more,
});
const createSdJwt = async (type: string, { api } = tenant) =>
  expectStatus(await api.sdJwt.create(request(type, { revocable: true })), 201).id;
const createJwtVc = async (type: string) => {
  const { did } = expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201);
  return expectStatus(await tenant.api.jwtVc.create(request(type, { issuerDid: did, revocable: true })), 201).id;
};
const collect = async (id: string, keys?: HolderKey[], { api } = tenant) => {
  const offer = expectStatus(await api.offers.create({ credentials: [id], claims: { given_name: 'Ada' } }), 200);
  const { credentials } = await new Wallet().collect(offer.uri, keys ? { keys } : {});
  return credentials.map(({ credential, key }) => ({ credential: credential as string, key, userId: offer.userId }));
};
const published = async (uri: string): Promise<Response> => {
  await waitUntil(async () => (await hostFetch(uri)).ok, { what: 'the token of the list' });
  return hostFetch(uri);
};

describe('a credential with a status [T140, T141]', () => {
  it('as dc+sd-jwt is verified by an independent library, with the list of the same signer', async () => {
    const [got] = await collect(await createSdJwt('SdStatus'));
    const { uri, idx } = statusOf(got!.credential);
    expect(uri).toMatch(new RegExp(`^${tenant.url}/v2/credentials/status-lists/[0-9a-f-]{36}/token$`));
    expect(idx).toBeLessThan(131_072);
    const token = await (await published(uri)).text();
    await verifySdJwt(got!.credential, got!.key);
    const { x5c, ...header } = decodeProtectedHeader(got!.credential.split('~', 1)[0]!);
    expect(header).toEqual({ alg: 'ES256', typ: 'dc+sd-jwt' });
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'statuslist+jwt', x5c });
  });

  it('as jwt_vc_json is verified by independent libraries, with the list of the same key', async () => {
    const [got] = await collect(await createJwtVc('JwtStatus'));
    const token = await (await published(statusOf(got!.credential).uri)).text();
    await verifyJwtVc(got!.credential);
    const { kid, alg } = decodeProtectedHeader(got!.credential);
    expect(decodeProtectedHeader(token)).toEqual({ alg, typ: 'statuslist+jwt', kid });
  });

  it('has an index of its own in a batch, which shows nothing of the order', async () => {
    const id = await createSdJwt('Batch');
    const keys = await Promise.all(Array.from({ length: 10 }, () => makeHolderKey()));
    const indexes = (await collect(id, keys)).map(({ credential }) => statusOf(credential).idx);
    expect(new Set(indexes).size).toBe(10);
    const gaps = indexes.slice(1).map((index, n) => index - indexes[n]!);
    expect(new Set(gaps).size).toBeGreaterThan(5);
  });

  it('is issued only while the configuration is revocable', async () => {
    const id = await createSdJwt('Later');
    const configuration = expectStatus(await tenant.api.sdJwt.retrieve(id), 200);
    expect(configuration.revocable).toBe(true);
    expectStatus(await tenant.api.sdJwt.update(id, { ...configuration, revocable: false }), 200);
    await waitUntil(
      async () => {
        const [got] = await collect(id);
        return !Object.hasOwn(decodeJwt(got!.credential.split('~', 1)[0]!), 'status');
      },
      { what: 'a credential without status' },
    );
    const { revocable } = expectStatus(await tenant.api.sdJwt.create(request('Without')), 201);
    expect(revocable).toBe(false);
  });
});

describe('a status list token [T142, T143]', () => {
  let uri: string;
  beforeAll(async () => {
    const [got] = await collect(await createSdJwt('Token'));
    ({ uri } = statusOf(got!.credential));
    await published(uri);
  });

  it('is public, may be cached, and is not sent again while it is unchanged', async () => {
    const answer = await hostFetch(uri, { headers: { accept: MEDIA_TYPE, origin: 'https://verifier.example' } });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': MEDIA_TYPE,
      'cache-control': 'public, max-age=1',
      etag: expect.stringMatching(/^"[\w-]{43}\.gzip"$/),
      'content-encoding': 'gzip',
      vary: 'Accept, Accept-Encoding',
      'access-control-allow-origin': '*',
    });
    const token = await answer.text();
    expect(decodeJwt(token).sub).toBe(uri);
    const again = await hostFetch(uri, { headers: { 'if-none-match': answer.headers.get('etag')! } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([
      304,
      '',
      answer.headers.get('etag'),
    ]);
  });

  it('is compressed only where Accept-Encoding prefers it [T785]', async () => {
    const [plain, compressed] = await Promise.all(
      ['identity', 'gzip'].map((coding) => hostFetch(uri, { headers: { 'accept-encoding': coding } })),
    );
    expect([plain!.headers.get('content-encoding'), compressed!.headers.get('content-encoding')]).toEqual([
      null,
      'gzip',
    ]);
    expect(plain!.headers.get('vary')).toBe('Accept, Accept-Encoding');
    expect(await compressed!.text()).toBe(await plain!.text());
  });

  it('is returned for a time at which it is valid, and for no other [T784]', async () => {
    const { iat, exp } = decodeJwt(await (await hostFetch(uri)).text());
    const statusAt = async (time: unknown) => (await hostFetch(`${uri}?time=${String(time)}`)).status;
    expect(await statusAt(iat! + 60)).toBe(200);
    for (const time of [1_700_000_000, iat! - 86_400, exp! + 86_400]) expect(await statusAt(time)).toBe(501);
    expect(await statusAt('yesterday')).toBe(400);
  });

  it('has one media type', async () => {
    const refused = await hostFetch(uri, { headers: { accept: 'application/statuslist+cwt' } });
    expect(refused.status).toBe(406);
    expect(await refused.json()).toMatchObject({ message: 'Accept must allow application/statuslist+jwt' });
  });

  it('names the document that lists it, with the other lists of the tenant', async () => {
    const token = decodeJwt<{ status_list: { aggregation_uri: string } }>(await (await hostFetch(uri)).text());
    const aggregation = token.status_list.aggregation_uri;
    expect(aggregation).toBe(`${tenant.url}/v2/credentials/status-lists/aggregation`);
    const { status_lists: uris } = (await (await hostFetch(aggregation)).json()) as { status_lists: string[] };
    expect(uris).toContain(uri);
    expect(uris.every((one) => one.startsWith(`${tenant.url}/`))).toBe(true);
  });

  it('exists only under its tenant', async () => {
    const [foreign] = await collect(await createSdJwt('Token', other), undefined, other);
    const { uri: foreignUri } = statusOf(foreign!.credential);
    await published(foreignUri);
    expect(new URL(foreignUri).host).toBe(new URL(other.url).host);
    const api = new ApiClient(tenant.url);
    expect((await api.request('GET', new URL(foreignUri).pathname)).status).toBe(404);
    const unknown = '/v2/credentials/status-lists/11111111-1111-4111-8111-111111111111/token';
    expect((await api.request('GET', unknown)).status).toBe(404);
    expect((await api.request('GET', unknown.replace(/1{8}/, 'x'))).status).toBe(400);
  });
});

describe('a changed status [T145]', () => {
  const idOf = async (userId: string, { api } = tenant): Promise<string> => {
    const listed = async () => expectStatus(await api.users.credentials(userId), 200).data;
    await waitUntil(async () => (await listed()).length > 0, { what: 'the record of the credential' });
    return (await listed())[0]!.id;
  };
  /** Longer than a change takes until a verifier that retrieves the list notices it. */
  const WITHIN_MS = 5000;
  const within = { timeoutMs: WITHIN_MS, intervalMs: 200, what: 'the status in the list' };
  const refused = (verify: () => Promise<unknown>) =>
    waitUntil(async () => {
      const error = await verify().catch((caught: Error) => caught);
      if (error instanceof Error && error.message !== 'Status is not valid') throw error;
      return error instanceof Error;
    }, within);

  it('of a dc+sd-jwt is found by an independent library, and no other credential is affected', async () => {
    const configuration = await createSdJwt('Revoked');
    const [[revoked], [kept]] = await Promise.all([collect(configuration), collect(configuration)]);
    const verify = () => verifySdJwt(revoked!.credential, revoked!.key);
    await published(statusOf(revoked!.credential).uri);
    await verify();
    const id = await idOf(revoked!.userId);
    expectStatus(await tenant.api.sdJwt.setStatus(id, { status: 'suspended' }), 201);
    await refused(verify);
    expectStatus(await tenant.api.sdJwt.setStatus(id, { status: 'valid' }), 201);
    await waitUntil(verify, within);
    expectStatus(await tenant.api.sdJwt.setStatus(id, { status: 'invalid', reason: 'lost' }), 201);
    await refused(verify);
    await verifySdJwt(kept!.credential, kept!.key);
  });

  it('of a jwt_vc_json is found by independent libraries', async () => {
    const [revoked] = await collect(await createJwtVc('Revoked'));
    await published(statusOf(revoked!.credential).uri);
    await verifyJwtVc(revoked!.credential);
    const id = await idOf(revoked!.userId);
    expectStatus(await tenant.api.jwtVc.setStatus(id, { status: 'invalid' }), 201);
    await refused(() => verifyJwtVc(revoked!.credential));
  });
});
