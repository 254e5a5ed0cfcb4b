import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hasOpenssl,
  hostFetch,
  makeHolderKey,
  PLATFORM_START_MS,
  readCrl,
  skipSuite,
  startPlatform,
  verifyMdocStatus,
  verifySdJwt,
  waitUntil,
  Wallet,
  type HolderKey,
  type ManagementApi,
  type RunningPlatform,
  type TenantUnderTest,
  type TestDnsServer,
} from '@attestry/testing';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { decodeJwt } from 'jose';
import { closeSurroundings, openSurroundings } from './surroundings.js';

/** From a change of the domain to what verifiers retrieve, and to the refusal of wallets. */
const WITHIN_MS = 5000;
const CARD = 'org.example.card';

let platform: RunningPlatform;
let management: ManagementApi;
let dns: TestDnsServer;
let serial = 0;

beforeAll(async () => {
  const surroundings = await openSurroundings();
  ({ dns } = surroundings);
  platform = await startPlatform({ env: surroundings.env });
  management = await connectManagement(platform);
}, PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await closeSurroundings();
});

const newTenant = (name: string): Promise<TenantUnderTest> => createTenantUnderTest(platform, management, name);
/** Several tenants may have the same domain one after another: the token of the last one is in the zone. */
const verified = async ({ api }: TenantUnderTest, domain = `withdrawn${++serial}.example`): Promise<string> => {
  const brand = { name: 'Acme', logoUrl: 'https://cdn.example/logo.png' };
  const { verificationToken } = expectStatus(await api.customDomain.create({ ...brand, domain }), 201);
  dns.set(domain, verificationToken);
  expectStatus(await api.customDomain.verify(), 204);
  return domain;
};
const request = (type: string, more: object = {}) => ({
  ...{ type, name: type, issuer: { name: 'Acme' } },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  revocable: true,
  ...more,
});
const webDid = async ({ api }: TenantUnderTest, url: string): Promise<string> =>
  expectStatus(await api.dids.create({ method: 'web', options: { url } }), 201).did;

interface Issued {
  credential: string;
  key: HolderKey;
}
const issue = async ({ api }: TenantUnderTest, configuration: string): Promise<Issued> => {
  const offer = { credentials: [configuration], claims: { given_name: 'Ada' } };
  const { uri } = expectStatus(await api.offers.create(offer), 200);
  const { credentials } = await new Wallet().collect(uri);
  return { credential: credentials[0]!.credential as string, key: credentials[0]!.key };
};
/** The error of a credential request. */
const errorOf = async ({ url, api }: TenantUnderTest, configuration: string): Promise<string | undefined> => {
  const wallet = new Wallet();
  const offered = { credentials: [configuration], claims: { given_name: 'Ada' } };
  const offer = await wallet.resolveOffer(expectStatus(await api.offers.create(offered), 200).uri);
  const metadata = await wallet.metadata(offer.credential_issuer);
  const token = await wallet.accessToken(offer, metadata);
  const jwt = await wallet.proof(metadata, configuration, await makeHolderKey(), await wallet.nonce(metadata));
  const body = { credential_configuration_id: configuration, proofs: { jwt: [jwt] } };
  const path = '/v1/openid/credential';
  return (await new ApiClient(url).request<{ error?: string }>('POST', path, { token, body })).body.error;
};
const until = (what: string, condition: () => Promise<boolean>) => waitUntil(condition, { timeoutMs: WITHIN_MS, what });
const isDenied = async (tenant: TenantUnderTest, configuration: string) =>
  (await errorOf(tenant, configuration)) === 'credential_request_denied';
const isRefused = ({ credential, key }: Issued): Promise<boolean> =>
  verifySdJwt(credential, key).then(
    () => false,
    (error: Error) => {
      if (!/status/i.test(error.message)) throw error;
      return true;
    },
  );
const isAccepted = async (issued: Issued) => !(await isRefused(issued));
const listOf = ({ credential }: Issued): { uri: string; idx: number } =>
  decodeJwt<{ status: { status_list: { uri: string; idx: number } } }>(credential.split('~', 1)[0]!).status.status_list;
/** In a fresh token. */
const statusOf = async (issued: Issued): Promise<number> => {
  const { uri, idx } = listOf(issued);
  return getListFromStatusListJWT(await (await hostFetch(uri)).text()).getStatus(idx);
};

describe('when the domain of the issuer is deleted', () => {
  it('its credentials are INVALID until it is verified again; others are not affected [T190, T192]', async () => {
    const tenant = await newTenant('withdrawn');
    const { api } = tenant;
    const domain = await verified(tenant);
    const issuerDid = await webDid(tenant, domain);
    const sdJwt = expectStatus(await api.sdJwt.create(request('Under', { issuerDid })), 201).id;
    const jwtVc = expectStatus(await api.jwtVc.create(request('Under', { issuerDid })), 201).id;
    const without = expectStatus(await api.sdJwt.create(request('Without', { issuerDid, revocable: false })), 201).id;
    const elsewhere = expectStatus(await api.sdJwt.create(request('Elsewhere')), 201).id;
    const [sd, jwt, plain, other] = [
      await issue(tenant, sdJwt),
      await issue(tenant, jwtVc),
      await issue(tenant, without),
      await issue(tenant, elsewhere),
    ];
    await until('the first tokens', async () => (await hostFetch(listOf(jwt).uri)).ok && (await isAccepted(sd)));
    expect(await statusOf(jwt)).toBe(0);

    expectStatus(await api.customDomain.delete(), 204);
    await until('the refusal by verifiers', async () => (await isRefused(sd)) && (await statusOf(jwt)) === 1);
    await until('the end of issuing', () => isDenied(tenant, sdJwt));
    expect(await isDenied(tenant, jwtVc)).toBe(true);
    // Their own status has not changed.
    const { data } = expectStatus(await api.credentials({ credentialConfigurationId: sdJwt }), 200);
    expect(data).toMatchObject([{ status: 'valid' }]);
    expect(expectStatus(await api.sdJwt.status(data[0]!.id), 200)).toEqual({ status: 'valid' });
    expect(await isAccepted(plain)).toBe(true);
    expect(await isAccepted(other)).toBe(true);
    expect(await errorOf(tenant, elsewhere)).toBeUndefined();

    await verified(tenant, domain);
    await until('the acceptance by verifiers', async () => (await isAccepted(sd)) && (await statusOf(jwt)) === 0);
    await until('the return of issuing', async () => (await errorOf(tenant, sdJwt)) === undefined);
  }, 60_000);

  const itWithOpenssl = hasOpenssl() ? it : it.skip;
  if (!hasOpenssl()) skipSuite('CRLs of withdrawn domains', 'openssl is not installed (Debian: apt install openssl)');
  itWithOpenssl(
    'its document signers are in the CRL as certificateHold until it is verified again [T191]',
    async () => {
      const tenant = await newTenant('held');
      const { api } = tenant;
      const domain = await verified(tenant);
      const iaca = expectStatus(await api.iacas.create({}), 201);
      expect(iaca.certificateData.commonName).toBe(`${domain} IACA`);
      expectStatus(await api.iacas.update(iaca.id, true), 200);
      const mapped = { 'org.example': { given_name: { mapFrom: 'claims.given_name' } } };
      const configuration = expectStatus(
        await api.mobile.create({ type: CARD, claimMappings: mapped, expiresIn: { months: 1 }, includeStatus: true }),
        201,
      ).id;
      const { credential } = await issue(tenant, configuration);
      const status = () =>
        verifyMdocStatus(credential, [iaca.certificatePem]).then(
          () => 'valid',
          ({ message }: Error) => message,
        );
      await until('the first token', async () => (await status()) === 'valid');
      const crl = async () => {
        const answer = await hostFetch(`${tenant.url}/v2/credentials/mobile/iacas/${iaca.id}/crl`);
        return readCrl(Buffer.from(await answer.arrayBuffer()), iaca.certificatePem);
      };
      expect(await crl()).toContain('No Revoked Certificates');

      expectStatus(await api.customDomain.delete(), 204);
      await until('the hold', async () => (await crl()).includes('Certificate Hold'));
      await until('the refusal by verifiers', async () => (await status()) === 'Status is not valid');
      expect(await isDenied(tenant, configuration)).toBe(true);
      await verified(tenant, domain);
      await until('the acceptance by verifiers', async () => (await status()) === 'valid');
      await until('the end of the hold', async () => (await crl()).includes('No Revoked Certificates'));
      expect(await errorOf(tenant, configuration)).toBeUndefined();
    },
  );

  it('or handed over to another tenant, the credentials of each are its own [T193]', async () => {
    const [first, second] = [await newTenant('former'), await newTenant('latter')];
    const domain = await verified(first);
    const credentialOf = async (tenant: TenantUnderTest) => {
      const issuerDid = await webDid(tenant, domain);
      return issue(tenant, expectStatus(await tenant.api.sdJwt.create(request('Card', { issuerDid })), 201).id);
    };
    const theirs = await credentialOf(first);
    await until('the first token', () => isAccepted(theirs));
    await verified(second, domain);
    await until('the refusal of the former credentials', () => isRefused(theirs));
    const ours = await credentialOf(second);
    await until('the first token', () => isAccepted(ours));
    expect(await isRefused(theirs)).toBe(true);
    // The former tenant cannot end those of the other one, nor its own mask without the domain.
    expect((await first.api.customDomain.retrieve()).status).toBe(404);
    expectStatus(await second.api.customDomain.delete(), 204);
    await until('the refusal of the latter credentials', () => isRefused(ours));
    await verified(first, domain);
    await until('the acceptance of the former credentials', () => isAccepted(theirs));
    expect(await isRefused(ours)).toBe(true);
  }, 60_000);
});

describe('the host of a deleted tenant', () => {
  it('serves what verifiers need, so that they can verify its credentials until its purge [T194]', async () => {
    const tenant = await newTenant('departed');
    const { api, url } = tenant;
    const iaca = expectStatus(await api.iacas.create({}), 201);
    expectStatus(await api.iacas.update(iaca.id, true), 200);
    const configuration = expectStatus(await api.sdJwt.create(request('Card')), 201).id;
    const issued = await issue(tenant, configuration);
    await until('the first token', () => isAccepted(issued));
    const documents = [
      listOf(issued).uri,
      `${url}/v2/credentials/status-lists/aggregation`,
      `${url}/v2/credentials/mobile/iacas/${iaca.id}/crl`,
      `${url}/v1/openid/iacas`,
      `${url}/v1/openid/issuer-ca`,
      `${url}/.well-known/jwt-vc-issuer`,
    ];
    const contents = async () =>
      Promise.all(
        documents.slice(1).map(async (address) => {
          const answer = await hostFetch(address);
          return [address, answer.status, Buffer.from(await answer.arrayBuffer()).toString('base64')];
        }),
      );
    const before = await contents();
    expect(before.map(([, status]) => status)).toEqual([200, 200, 200, 200, 200]);

    expectStatus(await management.tenants.delete(tenant.id), 204);
    await until('the end of the tenant', async () => (await api.dids.list()).status === 404);
    expect(await contents()).toEqual(before);
    expect(await isAccepted(issued)).toBe(true);
    const preflight = { method: 'OPTIONS', headers: { origin: 'https://verifier.example' } };
    for (const address of documents) {
      expect([address, (await hostFetch(address, preflight)).status]).toEqual([address, 204]);
      expect([address, (await hostFetch(address, { method: 'POST' })).status]).toEqual([address, 404]);
    }
    for (const path of ['/', '/.well-known/openid-credential-issuer', '/v2/credentials', '/v1/oauth/jwks'])
      expect([path, (await hostFetch(`${url}${path}`)).status]).toEqual([path, 404]);
    // With the token of a former client, too.
    expect((await api.credentials()).status).toBe(404);
  });
});
