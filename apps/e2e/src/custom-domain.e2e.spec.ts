import { X509Certificate } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { AnalyticsEvent } from '@attestry/contracts';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  settledRecords,
  startPlatform,
  verifyDomainLinkage,
  waitUntil,
  Wallet,
  WebhookReceiver,
  type Answer,
  type DidDocument,
  type RunningPlatform,
  type TenantUnderTest,
  type TestDnsServer,
  servedDocument,
} from '@attestry/testing';
import { decodeProtectedHeader, importJWK, jwtVerify, type JWK } from 'jose';
import { closeSurroundings, openSurroundings } from './surroundings.js';

/** Documents that a customer's proxy forwards to the gateway, with the Host of the custom domain. */
const DOCUMENTS = [
  '/.well-known/did.json',
  '/.well-known/did-configuration',
  '/.well-known/did-configuration.json',
  '/.well-known/openid-credential-issuer',
  '/manifest.json',
];

let platform: RunningPlatform;
let dns: TestDnsServer;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let serial = 0;

beforeAll(async () => {
  const surroundings = await openSurroundings();
  ({ dns } = surroundings);
  platform = await startPlatform({ env: surroundings.env });
  const management = await connectManagement(platform);
  [tenant, other] = await Promise.all([
    createTenantUnderTest(platform, management, 'branded'),
    createTenantUnderTest(platform, management, 'rival'),
  ]);
}, PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await closeSurroundings();
});

interface DidConfiguration {
  entries: { issuer: string; credentialSubject: { origin: string } }[];
  linked_dids: { issuer: string; credentialSubject: { origin: string } }[];
}

const brand = { name: 'Acme & Söhne', logoUrl: 'https://cdn.example/logo.png' };

/** A request with any Host, which `fetch` does not allow, to the port of the gateway. */
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

const verified = async ({ api }: TenantUnderTest, domain = `branded${++serial}.example`): Promise<string> => {
  await api.customDomain.delete();
  const { verificationToken } = expectStatus(await api.customDomain.create({ ...brand, domain }), 201);
  dns.set(domain, verificationToken);
  expectStatus(await api.customDomain.verify(), 204);
  return domain;
};

describe('the custom domain over HTTP', () => {
  it('is created from JSON and from XML, and returned as JSON [T4, T5, T11, T63]', async () => {
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

  it('is answered with 404 until it is verified [T8, T63]', async () => {
    await tenant.api.customDomain.create({ ...brand, domain: 'early.example' });
    for (const path of DOCUMENTS) expect((await at('early.example', path)).status).toBe(404);
    const refused = await tenant.api.customDomain.verify();
    expect([refused.status, refused.body]).toEqual([
      400,
      { code: 'BadRequest', message: 'Verification failed', details: [expect.objectContaining({ param: 'domain' })] },
    ]);
  });

  it('serves only the public documents, rendered for its own name [T8, T58, T106, T745, T787]', async () => {
    const domain = await verified(tenant);
    const { did, localMetadata } = expectStatus(
      await tenant.api.dids.create({ method: 'web', options: { url: domain } }),
      201,
    );
    expect(did).toBe(`did:web:${domain}`);
    const document = await at(domain.toUpperCase(), '/.well-known/did.json');
    // The service names the origin that serves it.
    const served = servedDocument(localMetadata.initialDidDocument, `http://${domain}`);
    expect([document.status, document.body]).toEqual([200, served]);
    expect(document.headers.get('cache-control')).toBe('public, max-age=300');
    expect(document.headers.get('access-control-allow-origin')).toBe('*');
    // Each document at its own host only.
    expect((await new ApiClient(tenant.url).request('GET', '/.well-known/did.json')).status).toBe(404);

    // Each process of the platform queries the brand again after a second.
    await waitUntil(
      async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => tenant.api.metadata()));
        return answers.every(({ body }) => (body['display'] as { name: string }[])[0]!.name === brand.name);
      },
      { what: 'the brand in the metadata' },
    );
    const metadata = (await at(domain, '/.well-known/openid-credential-issuer')).body as Record<string, unknown>;
    const own = expectStatus(await tenant.api.metadata(), 200);
    expect(metadata).toEqual({
      ...own,
      credential_issuer: `http://${domain}`,
      authorization_servers: [tenant.url],
    });
    expect(own['credential_issuer']).toBe(tenant.url);
    expect(own['authorization_servers']).toEqual([tenant.url]);
    expect(metadata['credential_endpoint']).toBe(`${tenant.url}/v1/openid/credential`);
    expect(metadata['display']).toEqual([{ name: brand.name, logo: { uri: brand.logoUrl, alt_text: brand.name } }]);

    // The signer of the domain is made when it is verified, without a call.
    const signed = () =>
      at(domain, '/.well-known/openid-credential-issuer', { headers: { accept: 'application/jwt' } });
    await waitUntil(async () => (await signed()).headers.get('content-type') === 'application/jwt', {
      what: 'the signer of the domain',
    });
    const { text: jws } = await signed();
    const certificate = new X509Certificate(Buffer.from(decodeProtectedHeader(jws).x5c![0]!, 'base64'));
    const { payload } = await jwtVerify(jws, certificate.publicKey);
    expect(payload).toMatchObject({ sub: `http://${domain}`, credential_issuer: `http://${domain}` });

    const manifest = await at(domain, '/manifest.json');
    expect([manifest.status, manifest.body]).toEqual([
      200,
      { name: brand.name, short_name: brand.name, icons: [{ src: brand.logoUrl }] },
    ]);
    expect(manifest.headers.get('cache-control')).toBe('public, max-age=300');

    const authorization = { authorization: `Bearer ${tenant.token}` };
    const api = ['/v1/config/domain', '/v1/dids', '/v1/events', '/v1/webhooks/jwks', '/v1/oauth/jwks'];
    for (const path of [...api, '/openapi.json', '/docs', '/docs/start.js'])
      expect([path, (await at(domain, path, { headers: authorization })).status]).toEqual([path, 404]);
    for (const path of ['/.well-known/oauth-authorization-server', '/v1/openid/credential', '/oauth/token'])
      for (const method of ['GET', 'POST', 'OPTIONS'])
        expect([path, (await at(domain, path, { method, headers: authorization })).status]).toEqual([path, 404]);
    const page = await at(domain, '/');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain(`<title>Custom domain - ${domain}</title>`);
    const links = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
    expect(links).toEqual([
      '/.well-known/openid-credential-issuer',
      `${tenant.url}/docs`,
      `${tenant.url}/health/ready`,
    ]);
    expect(page.text).not.toMatch(/Acme|rival/);
    const posted = await at(domain, '/manifest.json', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    for (const name of [`www.${domain}`, `${domain}:1234`, 'example', '127.0.0.1'])
      for (const path of [...DOCUMENTS, '/']) expect([name, (await at(name, path)).status]).toEqual([name, 404]);
  });

  it('is linked with the DIDs of the tenant, each document with its own origin first', async () => {
    const { api } = tenant;
    const domain = await verified(tenant);
    const key = expectStatus(await api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201).did;
    const web = expectStatus(await api.dids.create({ method: 'web', options: { url: domain } }), 201);
    const resolve = async (): Promise<DidDocument> => (await at(domain, '/.well-known/did.json')).body as DidDocument;
    const ofCustom = (await at(domain, '/.well-known/did-configuration.json')).body as DidConfiguration;
    const issuers = ofCustom.linked_dids.map(({ issuer }) => issuer);
    expect(issuers).toEqual(expect.arrayContaining([key, web.did]));
    for (const entry of ofCustom.linked_dids.filter(({ issuer }) => [key, web.did].includes(issuer)))
      await verifyDomainLinkage({ ...entry }, `http://${domain}`, { resolve });
    expect(ofCustom).not.toHaveProperty('entries');

    const atHome = async () =>
      expectStatus(
        await new ApiClient(tenant.url).request<DidConfiguration>('GET', '/.well-known/did-configuration'),
        200,
      )
        .linked_dids.filter(({ issuer }) => issuer === key)
        .map(({ credentialSubject }) => credentialSubject.origin);
    await waitUntil(async () => (await atHome()).length === 2, { what: 'the new origin' });
    expect(await atHome()).toEqual([tenant.url, `http://${domain}`]);
    expectStatus(await api.customDomain.delete(), 204);
    await waitUntil(async () => (await atHome()).length === 1, { what: 'its end' });
    expect(await atHome()).toEqual([tenant.url]);
  });

  it('causes one webhook event when it is verified', async () => {
    const { api } = tenant;
    const receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
    try {
      const subscription = { events: ['CustomDomainVerified' as const], url: receiver.url };
      const { id } = expectStatus(await api.webhooks.create(subscription), 201);
      const domain = await verified(tenant);
      // Repeated: nothing changes.
      expectStatus(await api.customDomain.verify(), 204);
      const { body, verified: isGenuine } = await receiver.next();
      expect([isGenuine, body.event.type, body.event.payload]).toEqual([true, 'CustomDomainVerified', { domain }]);
      const next = await verified(tenant);
      expect((await receiver.next()).body.event.payload).toEqual({ domain: next });
      expect(receiver.deliveries).toHaveLength(2);
      expectStatus(await api.webhooks.delete(id), 204);
    } finally {
      await receiver.close();
    }
  });

  it('that is given up while in use is reported in the audit trail and to webhooks, with the number of configurations', async () => {
    const { api } = tenant;
    const receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
    const subscription = { events: ['CustomDomainDeletedInUse' as const], url: receiver.url };
    const { id } = expectStatus(await api.webhooks.create(subscription), 201);
    const metadataOf = async (answer: Answer) => {
      await settledRecords(api);
      const query = { requestIds: [answer.headers.get('x-request-id')!] };
      return expectStatus(await api.analytics.list(query), 200).data.find(({ type }) => type.endsWith('_SUCCESS'))!
        .metadata;
    };
    const delivered = async () => {
      const { body, verified: isGenuine } = await receiver.next();
      return [isGenuine, body.event.type, body.event.payload];
    };
    try {
      // A domain that nothing issues under is no news.
      const unused = await verified(tenant);
      const plain = await api.customDomain.delete();
      expect([plain.status, await metadataOf(plain)]).toEqual([204, {}]);

      const domain = await verified(tenant);
      const { did } = expectStatus(await api.dids.create({ method: 'web', options: { url: domain } }), 201);
      const own = expectStatus(
        await api.dids.create({ method: 'web', options: { url: `${tenant.host}/in-use` } }),
        201,
      ).did;
      const made: string[] = [];
      for (const [type, issuerDid] of [
        ['InUseOne', did],
        ['InUseTwo', did],
        ['InUseElsewhere', own],
      ] as const) {
        const request = { type, name: type, issuer: { name: 'Acme' }, issuerDid, claimMappings: {} };
        made.push(expectStatus(await api.jwtVc.create(request), 201).id);
      }
      const inUse = { activeConfigurations: 2 };
      const deleted = await api.customDomain.delete();
      expect([deleted.status, deleted.text, await metadataOf(deleted)]).toEqual([204, '', inUse]);
      expect(await delivered()).toEqual([true, 'CustomDomainDeletedInUse', { domain, ...inUse }]);

      // A replacement ends it like a deletion, and so does a takeover by another tenant.
      await verified(tenant, domain);
      const next = `next-${domain}`;
      const replaced = await api.customDomain.update({ ...brand, domain: next });
      expect([expectStatus(replaced, 200).domain, await metadataOf(replaced)]).toEqual([next, inUse]);
      expect(await delivered()).toEqual([true, 'CustomDomainDeletedInUse', { domain, ...inUse }]);
      expectStatus(await api.jwtVc.delete(made[1]!), 204);
      await verified(tenant, domain);
      await verified(other, domain);
      expect(await delivered()).toEqual([true, 'CustomDomainDeletedInUse', { domain, activeConfigurations: 1 }]);
      expect((await api.customDomain.retrieve()).status).toBe(404);
      expect(receiver.deliveries).toHaveLength(3);
      expect(unused).not.toBe(domain);
    } finally {
      await api.webhooks.delete(id);
      await receiver.close();
    }
  }, 60_000);

  it('changes neither the address of the API nor existing DIDs', async () => {
    const { api } = tenant;
    await api.customDomain.delete();
    const before = expectStatus(await api.dids.create({ method: 'web', options: { url: `${tenant.host}/kept` } }), 201);
    await verified(tenant);
    expectStatus(await api.dids.retrieve(before.did), 200);
    const document = await new ApiClient(tenant.url).request('GET', '/kept/did.json');
    const served = servedDocument(before.localMetadata.initialDidDocument, tenant.url);
    expect([document.status, document.body]).toEqual([200, served]);
    expectStatus(await api.users.list(), 200);
  });

  it('records the events of each operation, and is a 404 when the tenant has none [T12, T62, T65]', async () => {
    const { api } = other;
    const typesOf = async ({ headers }: Answer) => {
      await settledRecords(api);
      const query = { requestIds: [headers.get('x-request-id')!] };
      return expectStatus(await api.analytics.list(query), 200).data.map(({ type }: AnalyticsEvent) => type);
    };
    const expectEvents = async (answer: Answer, verb: string) =>
      expect(await typesOf(answer)).toEqual([
        `CONFIG_CUSTOM_DOMAIN_${verb}_${answer.status < 300 ? 'SUCCESS' : 'FAIL'}`,
        `CONFIG_CUSTOM_DOMAIN_${verb}_START`,
      ]);
    await api.customDomain.delete();
    const domain = 'events.example';
    for (const [verb, call] of [
      ['RETRIEVE', () => api.customDomain.retrieve()],
      ['UPDATE', () => api.customDomain.update({ ...brand, domain })],
      ['VERIFY', () => api.customDomain.verify()],
      ['DELETE', () => api.customDomain.delete()],
    ] as [string, () => Promise<Answer>][]) {
      const missing = await call();
      expect([verb, missing.status, (missing.body as { code: string }).code]).toEqual([verb, 404, 'NotFound']);
      await expectEvents(missing, verb);
    }
    await expectEvents(await api.customDomain.create({ ...brand, domain: 'no domain' }), 'CREATE');
    const created = await api.customDomain.create({ ...brand, domain });
    dns.set(domain, expectStatus(created, 201).verificationToken);
    await expectEvents(created, 'CREATE');
    await expectEvents(await api.customDomain.retrieve(), 'RETRIEVE');
    await expectEvents(await api.customDomain.update({ ...brand, name: 'Other', domain }), 'UPDATE');
    await expectEvents(await api.customDomain.verify(), 'VERIFY');
    await expectEvents(await api.customDomain.delete(), 'DELETE');
  });

  it('ends issuing under it when it is deleted: no document and no further credential [T9]', async () => {
    const { api } = tenant;
    const domain = await verified(tenant);
    const { did } = expectStatus(await api.dids.create({ method: 'web', options: { url: domain } }), 201);
    const request = { type: 'Course', name: 'Course credential', issuer: { name: 'Acme' }, issuerDid: did };
    const claimMappings = { given_name: { mapFrom: 'claims.given_name' } };
    const configuration = expectStatus(await api.jwtVc.create({ ...request, claimMappings }), 201).id;
    const { uri } = expectStatus(
      await api.offers.create({ credentials: [configuration], claims: { given_name: 'Ada' } }),
      200,
    );
    const wallet = new Wallet();
    const offer = await wallet.resolveOffer(uri);
    const metadata = await wallet.metadata(offer.credential_issuer);
    const token = await wallet.accessToken(offer, metadata);
    const key = await makeHolderKey();
    const ask = async () => {
      const jwt = await wallet.proof(metadata, configuration, key, await wallet.nonce(metadata));
      return new ApiClient(tenant.url).request<{ error?: string; credentials?: { credential: string }[] }>(
        'POST',
        '/v1/openid/credential',
        { token, body: { credential_configuration_id: configuration, proofs: { jwt: [jwt] } } },
      );
    };
    /** Several processes may answer, and each receives the event separately: this many answers in a row cover all of them. */
    const everywhere = (status: number, error: string | undefined, what: string) =>
      waitUntil(
        async () => {
          for (let n = 0; n < 16; n++) {
            const answer = await ask();
            if (answer.status !== status || answer.body.error !== error) return false;
          }
          return true;
        },
        { what },
      );
    const verify = async (jwt: string) => {
      const { kid, alg } = decodeProtectedHeader(jwt);
      expect(kid).toMatch(`${did}#`);
      const document = await at(domain, '/.well-known/did.json');
      if (document.status !== 200) throw new Error(`the document of the issuer was answered with ${document.status}`);
      const methods = (document.body as DidDocument).verificationMethod!;
      const jwk = methods.find(({ id }) => id === kid)!.publicKeyJwk as JWK;
      return jwtVerify(jwt, await importJWK(jwk, alg));
    };

    const { credential } = expectStatus(await ask(), 200).credentials![0]!;
    expect((await verify(credential)).payload.iss).toBe(did);

    expectStatus(await api.customDomain.delete(), 204);
    await waitUntil(async () => (await at(domain, '/.well-known/did.json')).status === 404, {
      what: 'the end of the document',
    });
    for (const path of DOCUMENTS) expect([path, (await at(domain, path)).status]).toEqual([path, 404]);
    await expect(verify(credential)).rejects.toThrow('404');
    await everywhere(400, 'credential_request_denied', 'the end of issuing');

    // The same domain, proved again, is the same identity: the DID has kept its keys.
    await verified(tenant, domain);
    await everywhere(200, undefined, 'the return of issuing');
    expect((await verify(credential)).payload.iss).toBe(did);
    // An update to another domain ends it like a deletion.
    expectStatus(await api.customDomain.update({ ...brand, domain: `moved-${domain}` }), 200);
    await everywhere(400, 'credential_request_denied', 'the end of issuing again');
  }, 60_000);

  it('moves to another tenant with the TXT record: documents, DIDs and webhooks follow', async () => {
    const domain = await verified(tenant);
    const { did } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: domain } }), 201);
    expect(did).toBe(`did:web:${domain}`);
    const ownerBrand = { ...brand, name: 'The new owner' };
    await other.api.customDomain.delete();
    const next = expectStatus(await other.api.customDomain.create({ ...ownerBrand, domain }), 201);
    const theirs = expectStatus(await other.api.dids.create({ method: 'web', options: { url: domain } }), 201);
    const manifestName = async () => ((await at(domain, '/manifest.json')).body as { name?: string }).name;
    expect(await manifestName()).toBe(brand.name);
    dns.set(domain, next.verificationToken);
    expectStatus(await other.api.customDomain.verify(), 204);
    expect((await tenant.api.customDomain.retrieve()).status).toBe(404);
    await waitUntil(async () => (await manifestName()) === 'The new owner', { what: 'the new owner' });
    const document = await at(domain, '/.well-known/did.json');
    const served = servedDocument(theirs.localMetadata.initialDidDocument, `http://${domain}`);
    expect([document.status, document.body]).toEqual([200, served]);
    const origins = async ({ url }: TenantUnderTest) =>
      expectStatus(
        await new ApiClient(url).request<DidConfiguration>('GET', '/.well-known/did-configuration'),
        200,
      ).linked_dids.map(({ credentialSubject }) => credentialSubject.origin);
    await waitUntil(
      async () =>
        !(await origins(tenant)).includes(`http://${domain}`) && (await origins(other)).includes(`http://${domain}`),
      { what: 'domain linkage to follow' },
    );
    expectStatus(await other.api.customDomain.delete(), 204);
  });

  it('is refused to all but one of several tenants that verify it concurrently', async () => {
    await tenant.api.customDomain.delete();
    await other.api.customDomain.delete();
    for (let round = 0; round < 5; round++) {
      const domain = `rush${++serial}.example`;
      const made = [];
      for (const { api } of [tenant, other])
        made.push(expectStatus(await api.customDomain.create({ ...brand, domain }), 201));
      dns.set(domain, ...made.map(({ verificationToken }) => verificationToken));
      const answers = await Promise.all([tenant, other].map(({ api }) => api.customDomain.verify()));
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 400]);
      for (const { api } of [tenant, other]) expectStatus(await api.customDomain.delete(), 204);
    }
  });

  it('belongs to one tenant, and is released when it is deleted [T14, T15]', async () => {
    const domain = await verified(tenant);
    expect((await at(domain, '/manifest.json')).status).toBe(200);
    const { verificationToken } = expectStatus(await other.api.customDomain.create({ ...brand, domain }), 201);
    const holder = expectStatus(await tenant.api.customDomain.retrieve(), 200);
    dns.set(domain, holder.verificationToken, verificationToken);
    const refused = await other.api.customDomain.verify();
    expect([refused.status, (refused.body as unknown as { message: string }).message]).toEqual([
      400,
      'Verification failed',
    ]);

    expectStatus(await tenant.api.customDomain.delete(), 204);
    await waitUntil(async () => (await at(domain, '/manifest.json')).status === 404, {
      what: 'its end',
    });
    for (const path of DOCUMENTS) expect((await at(domain, path)).status).toBe(404);

    expectStatus(await other.api.customDomain.verify(), 204);
    await waitUntil(async () => (await at(domain, '/manifest.json')).status === 200, {
      what: 'the other',
    });
    expect(
      ((await at(domain, '/.well-known/openid-credential-issuer')).body as { authorization_servers: string[] })
        .authorization_servers,
    ).toEqual([other.url]);
    expectStatus(await other.api.customDomain.delete(), 204);
  });

  it('can be claimed by another tenant after an update to another domain [T6, T13]', async () => {
    const domain = await verified(tenant);
    const current = expectStatus(await tenant.api.customDomain.retrieve(), 200);
    const renamed = expectStatus(await tenant.api.customDomain.update({ ...brand, name: 'New', domain }), 200);
    expect(renamed).toEqual({ ...current, name: 'New' });
    expect(((await at(domain, '/manifest.json')).body as { name: string }).name).toBe('New');
    const moved = expectStatus(await tenant.api.customDomain.update({ ...brand, domain: `moved-${domain}` }), 200);
    expect(moved).toMatchObject({ isVerified: false });
    expect(moved).not.toHaveProperty('verifiedAt');
    await waitUntil(async () => (await at(domain, '/manifest.json')).status === 404, {
      what: 'its end',
    });
  });
});
