import { request as httpRequest } from 'node:http';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  startPlatform,
  TestDnsServer,
  waitUntil,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';

/** What a customer's proxy does: the gateway is asked with the Host of the custom domain. */
const DOCUMENTS = ['/.well-known/did.json', '/.well-known/openid-credential-issuer', '/manifest.json'];

let platform: RunningPlatform;
let dns: TestDnsServer;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let serial = 0;

beforeAll(async () => {
  dns = await TestDnsServer.start();
  platform = await startPlatform({ env: { DNS_SERVERS: dns.address } });
  const management = await connectManagement(platform);
  [tenant, other] = await Promise.all([
    createTenantUnderTest(platform, management, 'acme'),
    createTenantUnderTest(platform, management, 'other'),
  ]);
}, PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await dns?.stop();
});

const brand = { name: 'Acme & Söhne', logoUrl: 'https://cdn.example/logo.png' };

/** A request with any Host, which `fetch` lets nobody choose, to the port of the gateway. */
const at = (domain: string, path: string, init: { method?: string; headers?: Record<string, string> } = {}) => {
  return new Promise<{ status: number; headers: Headers; body: unknown; text: string }>((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: platform.ready.port,
        path,
        method: init.method ?? 'GET',
        headers: { host: domain, ...init.headers },
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const isJson = response.headers['content-type']?.includes('json') ?? false;
          resolve({
            status: response.statusCode!,
            headers: new Headers(response.headers as Record<string, string>),
            text,
            body: isJson ? (JSON.parse(text) as unknown) : text,
          });
        });
      },
    );
    request.once('error', reject);
    request.end();
  });
};

const verified = async ({ api }: TenantUnderTest, domain = `brand${++serial}.example`): Promise<string> => {
  await api.customDomain.delete();
  const { verificationToken } = expectStatus(await api.customDomain.create({ ...brand, domain }), 201);
  dns.set(domain, verificationToken);
  expectStatus(await api.customDomain.verify(), 204);
  return domain;
};

describe('the custom domain over HTTP', () => {
  it('is created from JSON and from XML alike, and answered as JSON', async () => {
    const { api } = tenant;
    const inJson = expectStatus(await api.customDomain.create({ ...brand, domain: 'one.example' }), 201);
    expectStatus(await api.customDomain.delete(), 204);
    const send = (body: string, type = 'application/xml') =>
      api.client.request<typeof inJson>('POST', '/v1/config/domain', { body, headers: { 'content-type': type } });
    const inXml = await send(
      `<?xml version="1.0" encoding="UTF-8"?><customDomain><name>Acme &amp; S&#246;hne</name>
       <logoUrl>https://cdn.example/logo.png</logoUrl><domain>one.example</domain></customDomain>`,
    );
    expect(inXml.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(expectStatus(inXml, 201)).toEqual({ ...inJson, verificationToken: expect.any(String) });
    expectStatus(await api.customDomain.delete(), 204);

    // The same faults in either form.
    for (const [xml, json] of [
      ['<a/>', {}],
      [
        '<a><name></name><logoUrl>x</logoUrl><domain>https://x</domain></a>',
        { name: '', logoUrl: 'x', domain: 'https://x' },
      ],
      [
        '<a><name>n</name><logoUrl>x</logoUrl><domain>https://x</domain></a>',
        { name: 'n', logoUrl: 'x', domain: 'https://x' },
      ],
      [
        '<a><name><b>1</b></name><logoUrl>x</logoUrl><domain>d</domain></a>',
        { name: { b: '1' }, logoUrl: 'x', domain: 'd' },
      ],
    ] as const) {
      const answers = [await send(xml), await api.client.request('POST', '/v1/config/domain', { body: json })];
      expect(answers.map(({ status }) => status)).toEqual([400, 400]);
      expect(answers[0]!.body).toEqual(answers[1]!.body);
    }
    const doctype = await send('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><name>&x;</name></a>');
    expect([doctype.status, doctype.body]).toEqual([
      400,
      {
        code: 'BadRequest',
        message: 'Validation Error',
        details: [{ msg: 'must not have a DOCTYPE', param: 'body', location: 'body' }],
      },
    ]);
    expect((await send('a: b', 'application/yaml')).status).toBe(415);
    expect(
      (await api.client.request('PUT', '/v1/config/domain', { body: '<a/>', headers: { 'content-type': 'text/xml' } }))
        .status,
    ).toBe(415);
    expect((await api.customDomain.retrieve()).status).toBe(404);
  });

  it('is nobody before it is verified', async () => {
    await tenant.api.customDomain.create({ ...brand, domain: 'early.example' });
    for (const path of DOCUMENTS) expect((await at('early.example', path)).status).toBe(404);
    const refused = await tenant.api.customDomain.verify();
    expect([refused.status, refused.body]).toEqual([
      400,
      { code: 'BadRequest', message: 'Verification failed', details: [expect.objectContaining({ param: 'domain' })] },
    ]);
  });

  it('answers for the public documents, rendered for its own name, and for nothing else', async () => {
    const domain = await verified(tenant);
    const { did, localMetadata } = expectStatus(
      await tenant.api.dids.create({ method: 'web', options: { url: domain } }),
      201,
    );
    expect(did).toBe(`did:web:${domain}`);
    const document = await at(domain.toUpperCase(), '/.well-known/did.json');
    expect([document.status, document.body]).toEqual([200, localMetadata.initialDidDocument]);
    expect(document.headers.get('cache-control')).toBe('public, max-age=300');
    expect(document.headers.get('access-control-allow-origin')).toBe('*');
    // Each document at its own host only.
    expect((await new ApiClient(tenant.url).request('GET', '/.well-known/did.json')).status).toBe(404);

    const metadata = (await at(domain, '/.well-known/openid-credential-issuer')).body as Record<string, unknown>;
    const own = expectStatus(await tenant.api.metadata(), 200);
    expect(metadata).toEqual({
      ...own,
      credential_issuer: `http://${domain}`,
      authorization_servers: [tenant.url],
    });
    expect(own['credential_issuer']).toBe(tenant.url);
    expect(own).not.toHaveProperty('authorization_servers');
    expect(metadata['credential_endpoint']).toBe(`${tenant.url}/v1/openid/credential`);

    const manifest = await at(domain, '/manifest.json');
    expect([manifest.status, manifest.body]).toEqual([
      200,
      { name: brand.name, short_name: brand.name, icons: [{ src: brand.logoUrl }] },
    ]);
    expect(manifest.headers.get('cache-control')).toBe('public, max-age=300');

    const authorization = { authorization: `Bearer ${tenant.token}` };
    for (const path of ['/', '/v1/config/domain', '/v1/dids', '/v1/events', '/v1/webhooks/jwks', '/v1/oauth/jwks'])
      expect([path, (await at(domain, path, { headers: authorization })).status]).toEqual([path, 404]);
    for (const path of ['/.well-known/oauth-authorization-server', '/v1/openid/credential', '/oauth/token'])
      for (const method of ['GET', 'POST', 'OPTIONS'])
        expect([path, (await at(domain, path, { method, headers: authorization })).status]).toEqual([path, 404]);
    const posted = await at(domain, '/manifest.json', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    for (const name of [`www.${domain}`, `${domain}:1234`, 'example', '127.0.0.1'])
      for (const path of DOCUMENTS) expect([name, (await at(name, path)).status]).toEqual([name, 404]);
  });

  it('is of one tenant, and gone with its deletion', async () => {
    const domain = await verified(tenant);
    expect((await at(domain, '/manifest.json')).status).toBe(200);
    const { verificationToken } = expectStatus(await other.api.customDomain.create({ ...brand, domain }), 201);
    dns.set(domain, verificationToken);
    const refused = await other.api.customDomain.verify();
    expect([refused.status, (refused.body as unknown as { message: string }).message]).toEqual([
      400,
      'Verification failed',
    ]);

    expectStatus(await tenant.api.customDomain.delete(), 204);
    await waitUntil(async () => (await at(domain, '/manifest.json')).status === 404, {
      timeoutMs: 5000,
      what: 'its end',
    });
    for (const path of DOCUMENTS) expect((await at(domain, path)).status).toBe(404);

    expectStatus(await other.api.customDomain.verify(), 204);
    await waitUntil(async () => (await at(domain, '/manifest.json')).status === 200, {
      timeoutMs: 5000,
      what: 'the other',
    });
    expect(
      ((await at(domain, '/.well-known/openid-credential-issuer')).body as { authorization_servers: string[] })
        .authorization_servers,
    ).toEqual([other.url]);
    expectStatus(await other.api.customDomain.delete(), 204);
  });

  it('changes hands with an update to another domain', async () => {
    const domain = await verified(tenant);
    const current = expectStatus(await tenant.api.customDomain.retrieve(), 200);
    const renamed = expectStatus(await tenant.api.customDomain.update({ ...brand, name: 'New', domain }), 200);
    expect(renamed).toEqual({ ...current, name: 'New' });
    expect(((await at(domain, '/manifest.json')).body as { name: string }).name).toBe('New');
    const moved = expectStatus(await tenant.api.customDomain.update({ ...brand, domain: `moved-${domain}` }), 200);
    expect(moved).toMatchObject({ isVerified: false });
    expect(moved).not.toHaveProperty('verifiedAt');
    await waitUntil(async () => (await at(domain, '/manifest.json')).status === 404, {
      timeoutMs: 5000,
      what: 'its end',
    });
  });
});
