import { X509Certificate } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  CustomerIaca,
  expectStatus,
  hasOpenssl,
  hostFetch,
  ManagementApi,
  PLATFORM_START_MS,
  readCrl,
  sharedPlatform,
  TenantApi,
  waitUntil,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

const PATH = '/v2/credentials/mobile/iacas';
let platform: PlatformAddresses;
let management: ManagementApi;
let tenant: TenantUnderTest;
let other: TenantUnderTest;

beforeAll(async () => {
  platform = await sharedPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'certified-roads');
  other = await createTenantUnderTest(platform, management, 'other-roads');
}, PLATFORM_START_MS);

const publicly = (of = tenant) => new ApiClient(of.url);
const listed = async (of = tenant) => {
  const { status, body, headers } = await publicly(of).request<{ iacas: { certificate: string }[] }>(
    'GET',
    '/v1/openid/iacas',
  );
  expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
  return body.iacas.map(({ certificate }) => new X509Certificate(Buffer.from(certificate, 'base64')));
};
const fetchCrl = (id: string, headers: Record<string, string> = {}, of = tenant) =>
  hostFetch(`${of.url}${PATH}/${id}/crl`, { headers });
const faultsOf = ({ status, body }: { status: number; body: unknown }) => [
  status,
  (body as { details: { param: string; msg: string }[] }).details.map(({ param, msg }) => `${param} ${msg}`),
];

describe('certificates of mobile documents', () => {
  it('begin with an IACA that verifiers get before it is used [T94, T110, T111, T112]', async () => {
    const { body: metadata } = await tenant.api.metadata();
    expect(metadata['mdoc_iacas_uri']).toBe(`${tenant.url}/v1/openid/iacas`);
    expect(await listed()).toEqual([]);
    const iaca = expectStatus(await tenant.api.iacas.create({}), 201);
    expect(iaca).toMatchObject({ active: false, isManaged: true, crlDue: false });
    expect(iaca.certificateData).toMatchObject({ commonName: `${tenant.host} IACA`, country: 'ZZ' });
    expect(await listed()).toEqual([]);
    expectStatus(await tenant.api.iacas.update(iaca.id, true), 200);
    const [anchor, ...more] = await listed();
    expect([anchor!.raw, more]).toEqual([new X509Certificate(iaca.certificatePem).raw, []]);
    expect(anchor!.verify(anchor!.publicKey)).toBe(true);
    expect(await listed(other)).toEqual([]);
    expect((await other.api.iacas.retrieve(iaca.id)).status).toBe(404);
    const bad = await tenant.api.iacas.create({ country: 'AU', stateOrProvinceName: 'NZ-AUK' });
    expect(faultsOf(bad)).toEqual([
      400,
      ['stateOrProvinceName must be a code of the country AU, which begins with AU-'],
    ]);
    expectStatus(await tenant.api.iacas.create({}), 201);
    const third = expectStatus(await tenant.api.iacas.create({}), 201);
    const fourth = await tenant.api.iacas.create({});
    expect([fourth.status, fourth.body]).toEqual([
      409,
      { code: 'Conflict', message: 'A tenant can have at most 3 IACAs' },
    ]);
    expect((await tenant.api.iacas.delete(third.id)).status).toBe(204);
  });

  it('have a CRL that every verifier can read [T113]', async () => {
    const [iaca] = expectStatus(await tenant.api.iacas.list(), 200).data;
    const answer = await fetchCrl(iaca!.id);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const shown = ['content-type', 'cache-control', 'etag'].map((name) => answer.headers.get(name));
    expect([answer.status, shown]).toEqual([200, ['application/pkix-crl', 'public, max-age=300', '"1"']]);
    if (hasOpenssl()) expect(readCrl(bytes, iaca!.certificatePem)).toContain('No Revoked Certificates');
    const again = await fetchCrl(iaca!.id, { 'if-none-match': '"1"' });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', '"1"']);
    expect((await fetchCrl(iaca!.id, {}, other)).status).toBe(404);
    expect((await fetchCrl('no-uuid')).status).toBe(400);
  });

  it('may be issued by an authority that keeps its key, and revoked by it [T114, T116, T117]', async () => {
    const customer = await CustomerIaca.create();
    const { api } = other;
    const { id } = expectStatus(await api.iacas.create({ certificatePem: customer.certificatePem }), 201);
    expectStatus(await api.iacas.update(id, true), 200);
    const signer = expectStatus(await api.documentSigners.create(id), 201);
    const certificatePem = await customer.issue(signer.csrPem!);
    const update = { active: true, certificatePem };
    expect(expectStatus(await api.documentSigners.update(signer.id, update), 200)).toMatchObject(update);
    const revoked = expectStatus(await api.documentSigners.revoke(signer.id), 200);
    expect(revoked).toEqual({ revoked: true, revocationDate: expect.any(String), crlDue: true });
    expect((await fetchCrl(id, {}, other)).status).toBe(404);
    customer.revoke(certificatePem);
    expect(expectStatus(await api.iacas.uploadCrl(id, await customer.signCrl()), 200).crlDue).toBe(false);
    const served = Buffer.from(await (await fetchCrl(id, {}, other)).arrayBuffer());
    if (hasOpenssl())
      expect(readCrl(served, customer.certificatePem)).toContain(new X509Certificate(certificatePem).serialNumber);
    expect(faultsOf(await api.documentSigners.update(signer.id, { active: true }))).toEqual([
      400,
      [`active must be false, because the document signer was revoked at ${revoked.revocationDate}`],
    ]);
    for (let n = 1; n < 5; n++) expectStatus(await api.documentSigners.create(id), 201);
    expect((await api.documentSigners.create(id)).status).toBe(409);
    expect((await tenant.api.documentSigners.retrieve(signer.id)).status).toBe(404);
  });

  it('are managed by certificate managers and read by managed issuers [T118]', async () => {
    const as = async (role: 'certificate-manager' | 'managed-issuer' | 'verifier') => {
      const { client } = await connectWithRoles(platform, management, tenant, [role]);
      return new TenantApi(tenant.url, client.token!);
    };
    const [manager, reader, none] = [await as('certificate-manager'), await as('managed-issuer'), await as('verifier')];
    const { id } = expectStatus(await manager.iacas.create({}), 201);
    expect(expectStatus(await reader.iacas.retrieve(id), 200).id).toBe(id);
    expect((await reader.iacas.update(id, true)).status).toBe(403);
    expect((await none.iacas.retrieve(id)).status).toBe(403);
    expect((await manager.iacas.delete(id)).status).toBe(204);
  });

  it('are in the audit trail, by their ids [T119]', async () => {
    const { id } = expectStatus(await tenant.api.iacas.create({}), 201);
    expectStatus(await tenant.api.iacas.delete(id), 204);
    const token = tenant.api.client.token!;
    const recorded = async () => {
      const { body } = await publicly().request<{ data: { type: string; objectId?: string }[] }>(
        'GET',
        '/v1/events?limit=1000',
        { token },
      );
      const text = body.data.filter((event) => JSON.stringify(event).includes(id)).map(({ type }) => type);
      return ['CREATE', 'DELETE'].every((verb) => text.includes(`MOBILE_CREDENTIAL_IACA_${verb}_SUCCESS`));
    };
    await waitUntil(recorded, { what: 'the events of the IACA' });
  });
});
