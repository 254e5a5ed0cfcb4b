import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  sharedPlatform,
  verifyDomainLinkage,
  waitUntil,
  PLATFORM_START_MS,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

let platform: PlatformAddresses;
let tenant: TenantUnderTest;

beforeAll(async () => {
  platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'linked');
}, PLATFORM_START_MS);

const create = async (method: 'key' | 'web', options: object) =>
  expectStatus(await tenant.api.dids.create({ method, options }), 201);

describe('domain linkage', () => {
  it('is public, and verified by an independent library that resolves the DIDs itself [T24] [T25] [T26] [T58] [T160]', async () => {
    const key = await create('key', { keyType: 'Ed25519' });
    const p256 = await create('key', { keyType: 'P-256' });
    const bls = await create('key', { keyType: 'Bls12381G2' });
    const web = await create('web', { url: tenant.host });
    const path = await create('web', { url: `${tenant.host}/departments/one` });
    for (const name of ['did-configuration', 'did-configuration.json']) {
      const retrieve = async () => {
        const response = await hostFetch(`${tenant.url}/.well-known/${name}`);
        expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
        const { entries, linked_dids } = (await response.json()) as Record<string, Record<string, unknown>[]>;
        expect(entries).toEqual(name.endsWith('.json') ? undefined : linked_dids);
        return linked_dids!;
      };
      // A busy machine may leave the BBS proof to a later request.
      const entries = await waitUntil(() => retrieve().then((it) => it.length === 5 && it), {
        what: 'an entry for each DID',
      });
      expect(entries.map(({ issuer }) => issuer)).toEqual([path.did, web.did, bls.did, p256.did, key.did]);
      for (const entry of entries) await verifyDomainLinkage(entry, new URL(tenant.url).origin);
    }
  });
});
