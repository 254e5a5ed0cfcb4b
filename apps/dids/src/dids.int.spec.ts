/** @engines embedded postgres */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkCredentialConfiguration,
  checkDid,
  createDid,
  customDomainVerified,
  customDomainWithdrawn,
  deleteDid,
  listDids,
  releaseIssuerKey,
  reserveIssuerKey,
  retrieveDid,
  retrieveDidConfiguration,
  type DidConfiguration,
  retrieveDidDocument,
  type DidRecord,
  type IssuerKey,
  type ListedDid,
  type PageOf,
  type TenantContext,
  findProofMethod,
  updateDidDocument,
} from '@attestry/contracts';
import type { RecordedEvent } from '@attestry/event-store';
import { type DidDocument, verifyDomainLinkage, waitUntil, servedDocument } from '@attestry/testing';
import { refusal, ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { Outbound, parseConfig, eventContext } from '@attestry/service-kit';
import { did as aggregate, didStream } from './did/did.state.js';
import { withoutMultikeys } from './did/multikeys.js';
import { startDeletion } from './did/did.decisions.js';
import { DidListsReadModel } from './did-lists/did-lists.read-model.js';
import { LinkedDomain } from './linked-domain/linked-domain.directory.js';
import { didsService } from './index.js';
import { PublishedDocuments } from './resolution/published-documents.js';

const clock = stoppedClock();
const pass = (ms: number) => (clock.time += ms);

/** Configurations that exist, as issuance would return. */
const existing = new Set<string>();
let requested: string[] = [];

const service = new ServiceUnderTest(didsService, {
  settings: { ALLOW_PRIVATE_TARGETS: 'true' },
  clock,
  subjects: ['event.dids.>'],
});
service.answer(checkCredentialConfiguration, ({ body: { configurationId } }) => {
  requested.push(configurationId);
  return { exists: existing.has(configurationId) };
});

beforeAll(() => service.open());
afterAll(() => service.remove());

/** An unreachable address. */
const CLOSED_HOST = 'localhost:1';
let count = 0;
const uuid = (n = ++count) => `30000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const newTenant = (): TenantContext => {
  const id = uuid();
  const host = `t${count}.localhost:8080`;
  return { id, host, baseUrl: `http://${host}` };
};
const context = (tenant: TenantContext) => service.asClient(tenant.id, { tenant });
const issuance = () => service.clientOf('issuance');

const create = (tenant: TenantContext, method: string, options: unknown): Promise<DidRecord> =>
  service.client.call(createDid, { body: { method, options } as never }, context(tenant));
const createKey = (tenant: TenantContext, keyType = 'Ed25519') => create(tenant, 'key', { keyType });
const createWeb = (tenant: TenantContext, url = tenant.host) => create(tenant, 'web', { url });
const list = (tenant: TenantContext, query: { limit?: number; cursor?: string } = {}) =>
  service.client.call(listDids, { query }, context(tenant)) as unknown as Promise<PageOf<ListedDid>>;
const retrieve = (tenant: TenantContext, id: string) =>
  service.client.call(retrieveDid, { params: { id } }, context(tenant));
const remove = (tenant: TenantContext, id: string) =>
  service.client.call(deleteDid, { params: { id } }, context(tenant));
const document = (tenant: TenantContext, url: string) =>
  service.client.call(
    retrieveDidDocument,
    { raw: { method: 'GET', url, headers: {}, text: '' } },
    { ...context(tenant), caller: { kind: 'public' }, publicUrl: tenant.baseUrl },
  ) as Promise<unknown>;
const configuration = (
  tenant: TenantContext,
  publicUrl = tenant.baseUrl,
  url = '/.well-known/did-configuration',
): Promise<Required<DidConfiguration>> =>
  service.client.call(
    retrieveDidConfiguration,
    { raw: { method: 'GET', url, headers: {}, text: '' } },
    { ...context(tenant), caller: { kind: 'public' }, publicUrl },
  ) as Promise<Required<DidConfiguration>>;
const reserve = (
  tenant: TenantContext,
  configurationId: string,
  did?: string,
  algorithms: IssuerKey['algorithm'][] = ['P-256', 'Ed25519'],
  more: { method?: 'web'; member?: 'issuer' } = {},
): Promise<IssuerKey> => {
  const body = { configurationId, algorithms, ...(did !== undefined && { did }), ...more };
  return issuance().call(reserveIssuerKey, { body }, context(tenant));
};
const release = (tenant: TenantContext, configurationId: string, did: string) =>
  issuance().call(releaseIssuerKey, { body: { tenantId: tenant.id, did, configurationId } }, context(tenant));

const served = ({ baseUrl }: TenantContext, { localMetadata }: DidRecord) =>
  servedDocument(localMetadata.initialDidDocument, baseUrl);

const exists = async (tenant: TenantContext, did: string): Promise<boolean> =>
  (await issuance().call(checkDid, { body: { did } }, context(tenant))).exists;
const vaultKeys = async (tenant: TenantContext) =>
  (await service.engines.vault.signingKeys.listSigningKeys(tenant.id, 'did')).map(({ keyId }) => keyId);
const streamOf = (tenant: TenantContext, did: string): Promise<RecordedEvent[]> =>
  service.engines.events.readStream(didStream(tenant.id, did));

describe('creating a did:key', () => {
  it('returns keys, document and status, and signs with the named key', async () => {
    const tenant = newTenant();
    const made = await createKey(tenant);
    expect(made).toEqual({
      did: expect.stringMatching(/^did:key:z6Mk/),
      registrationStatus: 'COMPLETED',
      localMetadata: {
        keys: [
          { didDocumentKeyId: expect.stringContaining('#z6Mk'), kmsKeyId: expect.any(String) },
          { didDocumentKeyId: expect.stringContaining('#z6LS'), kmsKeyId: expect.any(String) },
        ],
        registered: clock.time,
        initialDidDocument: expect.objectContaining({ id: made.did }),
      },
    });
    const [key] = made.localMetadata.keys;
    const signer = await service.engines.vault.signingKeys.loadSigner(tenant.id, key!.kmsKeyId);
    expect(key!.didDocumentKeyId).toBe(`${made.did}#${made.did.slice('did:key:'.length)}`);
    expect(signer.algorithm).toBe('Ed25519');
    expect(await vaultKeys(tenant)).toEqual([key!.kmsKeyId]);
  });

  it('accepts BLS12-381 G2, whose key is stored like the others and does not sign credentials', async () => {
    const tenant = newTenant();
    const made = await createKey(tenant, 'Bls12381G2');
    expect(made.did).toMatch(/^did:key:zUC[67]/);
    expect(made.localMetadata.initialDidDocument).toMatchObject({
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/bbs/v1'],
      verificationMethod: [{ type: 'Bls12381G2Key2020', publicKeyBase58: expect.stringMatching(/^.{120,132}$/) }],
    });
    const { kmsKeyId } = made.localMetadata.keys[0]!;
    expect(await vaultKeys(tenant)).toEqual([kmsKeyId]);
    await expect(service.engines.vault.signingKeys.loadSigner(tenant.id, kmsKeyId)).rejects.toThrow(TypeError);
    expect(await refusal(reserve(tenant, uuid(), made.did))).toMatchObject({ details: [{ param: 'issuerDid' }] });
    await remove(tenant, made.did);
    expect(await vaultKeys(tenant)).toEqual([]);
  });

  it('accepts P-256', async () => {
    const made = await createKey(newTenant(), 'P-256');
    expect(made.did).toMatch(/^did:key:zDn/);
    expect(made.localMetadata.keys).toHaveLength(1);
    expect(made.localMetadata.initialDidDocument).not.toHaveProperty('keyAgreement');
  });

  it.each<[string, string, unknown, object[]]>([
    ...(['key', 'web'] as const).flatMap((method): [string, string, unknown, object[]][] => {
      const missing =
        method === 'key'
          ? { param: 'options.keyType', msg: 'is required: one of Ed25519, P-256, Bls12381G2' }
          : { param: 'options.url', msg: 'is required: a host, a host with a path, or an https URL' };
      return [
        [`empty options of method ${method} [T655]`, method, {}, [missing]],
        [
          `missing options of method ${method} [T655]`,
          method,
          undefined,
          [{ param: 'options', msg: 'is required: options.url for method web, options.keyType for method key' }],
        ],
      ];
    }),
    ['options that are null', 'web', null, [{ param: 'options' }]],
    ['options that are an array', 'key', ['Ed25519'], [{ param: 'options' }]],
    ['an unsupported method', 'ion', { keyType: 'Ed25519' }, [{ param: 'method' }]],
    ['an unsupported key type', 'key', { keyType: 'ed25519' }, [{ param: 'options.keyType' }]],
    ['a missing key type', 'key', { keyType: null }, [{ param: 'options.keyType' }]],
    ['url with method key', 'key', { keyType: 'Ed25519', url: 'a.example' }, [{ param: 'options.url' }]],
    ['an unknown option', 'key', { keytype: 'P-256' }, [{ param: 'options.keytype' }]],
    ['keyType with method web', 'web', { url: 'a.example', keyType: 'P-256' }, [{ param: 'options.keyType' }]],
    ['method web without url', 'web', { domain: 'a.example' }, [{ param: 'options.domain' }, { param: 'options.url' }]],
    ['a url that is not a string', 'web', { url: 5 }, [{ param: 'options.url', value: 5 }]],
    ['a very long url', 'web', { url: 'a'.repeat(1025) }, [{ param: 'options.url' }]],
    ['a url with an IP address', 'web', { url: '127.0.0.1' }, [{ param: 'options.url', value: '127.0.0.1' }]],
  ])('is refused for %s, and nothing is created', async (_, method, options, details) => {
    const tenant = newTenant();
    const refused = await refusal(create(tenant, method, options));
    expect(refused).toMatchObject({ kind: 'invalid', code: 'BadRequest' });
    expect(refused.details).toEqual(details.map((detail) => expect.objectContaining({ location: 'body', ...detail })));
    expect(await vaultKeys(tenant)).toEqual([]);
  });

  it('does not repeat a password of a URL in the error', async () => {
    const refused = await refusal(createWeb(newTenant(), 'https://user:hunter2@a.example'));
    expect(JSON.stringify(refused.toWire())).not.toContain('hunter2');
  });
});

describe('creating a did:web', () => {
  it("on the tenant's own host is complete and served at once", async () => {
    const tenant = newTenant();
    const made = await createWeb(tenant);
    expect(made.did).toBe(`did:web:${tenant.host.replace(':', '%3A')}`);
    expect(made.registrationStatus).toBe('COMPLETED');
    expect(made.localMetadata.keys).toHaveLength(4);
    expect(await vaultKeys(tenant)).toEqual(made.localMetadata.keys.map(({ kmsKeyId }) => kmsKeyId));
    expect(await document(tenant, '/.well-known/did.json')).toEqual(served(tenant, made));
  });

  it('with a path is served below it', async () => {
    const tenant = newTenant();
    const made = await createWeb(tenant, `https://${tenant.host}/units/a%20b/`);
    expect(made.did).toBe(`did:web:${tenant.host.replace(':', '%3A')}:units:a%20b`);
    expect(await document(tenant, '/units/a%20b/did.json?v=1')).toEqual(served(tenant, made));
    for (const url of ['/.well-known/did.json', '/units/did.json', '/did.json', '/units/a%2Fb/did.json', '/%'])
      expect(await refusal(document(tenant, url))).toMatchObject({ kind: 'notFound' });
  });

  it('on another host is PROCESSING until its owner publishes it, and is not served by the platform', async () => {
    const tenant = newTenant();
    expect((await createWeb(tenant, 'issuer.example')).registrationStatus).toBe('PROCESSING');
    expect(await refusal(document(tenant, '/.well-known/did.json'))).toMatchObject({ kind: 'notFound' });
  });

  it("is refused under a host of the platform that is not the tenant's own, however it is written", async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    for (const url of [
      other.host,
      other.host.toUpperCase(),
      `https://${other.host}/a/path`,
      'unassigned.localhost:8080',
      'deeper.t1.localhost:8080',
      `deeper.${tenant.host}`,
      'management.localhost:8080',
      'auth.localhost:8080/x',
      'contexts.localhost:8080',
      'localhost:8080',
      // Whatever the port: the names are the platform's.
      other.host.replace('8080', '8443'),
      tenant.host.replace('8080', '8443'),
      other.host.replace(':8080', ''),
      `https://${other.host.replace(':8080', ':443')}`,
    ]) {
      const { details } = await refusal(createWeb(tenant, url));
      expect([url, details]).toEqual([
        url,
        [
          expect.objectContaining({
            param: 'options.url',
            msg: expect.stringMatching(/^must be the tenant's own host/),
          }),
        ],
      ]);
    }
    // A host name with a trailing dot is none (above); hosts beside the platform's are foreign.
    expect((await refusal(createWeb(tenant, `${other.host.replace(':8080', '.')}:8080`))).details).toMatchObject([
      { param: 'options.url' },
    ]);
    for (const url of ['notlocalhost:8080', 'localhost.example', 'localhost:1'])
      expect((await createWeb(tenant, url)).registrationStatus).toBe('PROCESSING');
    expect(await vaultKeys(other)).toEqual([]);
  });

  it('that was created under such a host earlier cannot be used by a configuration', async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    const own = await createWeb(tenant);
    const stolen = `did:web:${other.host.replace(':', '%3A')}`;
    // No call stores it in this way.
    const { state } = await service.engines.streams.load(aggregate, didStream(tenant.id, own.did));
    if (state.status !== 'active') throw new Error(state.status);
    const made = await service.engines.events.readStream(didStream(tenant.id, own.did), { from: 0, limit: 1 });
    const data = { ...(made[0]!.data as object), did: stolen, registrationStatus: 'PROCESSING' };
    await service.engines.streams.runDecision(
      aggregate,
      didStream(tenant.id, stolen),
      () => [{ type: 'DidCreated', data } as never],
      { tenantId: tenant.id, requestId: 'r', actor: 'test', operation: 'test' },
    );
    expect(await refusal(reserve(tenant, uuid(), stolen))).toMatchObject({
      kind: 'invalid',
      details: [{ param: 'issuerDid' }],
    });
    // It is not selected when no DID is named either.
    expect((await reserve(tenant, uuid())).did).toBe(own.did);
  });

  it.each(['/v1', '/v2/x', '/.well-known/x', '/health'])(
    "on the tenant's own host refuses the path %s",
    async (path) => {
      const tenant = newTenant();
      const refused = await refusal(createWeb(tenant, tenant.host + path));
      expect(refused.details).toMatchObject([
        {
          param: 'options.url',
          msg: expect.stringMatching(
            /^must not begin with the path \/[a-z0-9.-]+, at which the platform serves its own documents; reserved are \/health, /,
          ),
        },
      ]);
      expect(await createWeb(tenant, `issuer.example${path}`)).toMatchObject({ registrationStatus: 'PROCESSING' });
    },
  );

  it('is possible once per DID and tenant, however it is spelled', async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    const made = await createWeb(tenant, 'issuer.example/a');
    const refused = await refusal(createWeb(tenant, 'https://ISSUER.example:443/%61/'));
    expect(refused).toMatchObject({ kind: 'invalid', details: [{ param: 'options.url', location: 'body' }] });
    expect(await vaultKeys(tenant)).toHaveLength(4);
    const foreign = await createWeb(other, 'issuer.example/a');
    expect(foreign.did).toBe(made.did);
    expect(foreign.localMetadata).not.toEqual(made.localMetadata);
  });

  it('concurrently succeeds for exactly one caller, and the others leave no key behind', async () => {
    const tenant = newTenant();
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => createWeb(tenant)));
    const won = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ kind: 'invalid', details: [{ param: 'options.url' }] });
    const [{ value }] = won as [PromiseFulfilledResult<DidRecord>];
    expect(new Set(await vaultKeys(tenant))).toEqual(new Set(value.localMetadata.keys.map(({ kmsKeyId }) => kmsKeyId)));
  });
});

describe('the list', () => {
  it('is in order of creation, in pages, without status', async () => {
    const tenant = newTenant();
    const made: DidRecord[] = [];
    for (const make of [() => createKey(tenant), () => createWeb(tenant), () => createKey(tenant, 'P-256')]) {
      made.push(await make());
      pass(1000);
    }
    const expected = made.map(({ did, localMetadata }) => ({ did, localMetadata }));
    expect(await list(tenant)).toEqual({ data: expected });
    const first = await list(tenant, { limit: 2 });
    expect(first.data).toEqual(expected.slice(0, 2));
    expect(await list(tenant, { limit: 2, cursor: first.nextCursor! })).toEqual({ data: expected.slice(2) });
    for (const [whose, cursor] of [
      [newTenant(), first.nextCursor!],
      [tenant, 'bm9uc2Vuc2U'],
    ] as const)
      expect(await refusal(list(whose, { cursor }))).toMatchObject({
        kind: 'invalid',
        details: [{ param: 'cursor', location: 'query' }],
      });
  });

  it.each([0, 1001])('refuses a limit of %i', async (limit) =>
    expect(await refusal(list(newTenant(), { limit }))).toMatchObject({ details: [{ param: 'limit' }] }),
  );
});

describe('retrieving', () => {
  it('returns the same DID as its creation', async () => {
    const tenant = newTenant();
    for (const made of [await createKey(tenant), await createWeb(tenant), await createWeb(tenant, CLOSED_HOST)])
      expect(await retrieve(tenant, made.did)).toEqual(made);
  });

  it('is a 404 for an unknown DID and a 400 for an invalid one', async () => {
    const tenant = newTenant();
    for (const id of [
      'did:web:localhost%3A1',
      `did:web:${tenant.host.replace(':', '%3A')}:nobody`,
      'did:ion:abc',
      'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooW',
      'did:jwk:e30',
    ])
      expect(await refusal(retrieve(tenant, id))).toMatchObject({ kind: 'notFound', code: 'NotFound' });
    for (const call of [retrieve, remove])
      for (const id of ['nonsense', 'did:web:', 'did:web:a/../b', 'did:web:a#key', 'x'])
        expect(await refusal(call(tenant, id))).toMatchObject({
          kind: 'invalid',
          details: [{ param: 'id', location: 'params', value: id }],
        });
  });
});

describe('with documents on other hosts', () => {
  let server: Server;
  let host: string;
  /** The response of a path. */
  const paths = new Map<string, (response: ServerResponse) => void>();
  let requests: string[] = [];
  const publish = (path: string, value: unknown) =>
    paths.set(path, (response) => response.end(typeof value === 'string' ? value : JSON.stringify(value)));

  beforeAll(async () => {
    server = createServer(({ url }, response) => {
      requests.push(url!);
      const answer = paths.get(url!);
      if (answer) return answer(response);
      response.writeHead(404).end();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    host = `localhost:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const didAt = (path: string) => `did:web:${host.replace(':', '%3A')}:${path}`;

  it('a did:web of the tenant is complete once its document was found there [T16] [T23] [T30] [T787]', async () => {
    const tenant = newTenant();
    const made = await createWeb(tenant, `${host}/units`);
    expect(made).toMatchObject({ did: didAt('units'), registrationStatus: 'PROCESSING' });
    requests = [];
    expect(await Promise.all(Array.from({ length: 5 }, () => retrieve(tenant, made.did)))).toEqual(
      Array.from({ length: 5 }, () => made),
    );
    expect(requests).toEqual(['/units/did.json']);
    const document = made.localMetadata.initialDidDocument;
    publish('/units/did.json', { ...document, authentication: [] });
    await waitUntil(async () => {
      expect(await retrieve(tenant, made.did)).toEqual(made);
      return requests.length > 1;
    });
    // Its host may add services that link it with the host.
    publish('/units/did.json', JSON.stringify(servedDocument(document, `http://${host}`), null, 2));
    await waitUntil(async () => (await retrieve(tenant, made.did)).registrationStatus === 'COMPLETED');
    expect(await retrieve(tenant, made.did)).toEqual({ ...made, registrationStatus: 'COMPLETED' });
    expect((await streamOf(tenant, made.did)).map(({ type }) => type)).toEqual([
      'DidCreated',
      'DidPublicationSeen',
      'DidMultikeysSeen',
    ]);
    paths.delete('/units/did.json');
    requests = [];
    expect(await retrieve(tenant, made.did)).toMatchObject({ registrationStatus: 'COMPLETED' });
    expect(requests).toEqual([]);
  });

  it('a did:web of before gets its Multikeys, and proofs name them once they are found there [T789] [T790]', async () => {
    const tenant = newTenant();
    const { did: name, localMetadata } = await createWeb(tenant, `${host}/before`);
    const [{ data }] = (await streamOf(tenant, name)) as unknown as [{ data: Record<string, unknown> }];
    const old = withoutMultikeys(localMetadata.initialDidDocument);
    const before = name.replace('before', 'earlier');
    const inEarlier = JSON.parse(
      JSON.stringify({ ...data, document: old, did: before }).replaceAll(name, before),
    ) as Record<string, unknown>;
    await service.engines.streams.runDecision(
      aggregate,
      didStream(tenant.id, before),
      () => [{ type: 'DidCreated' as const, data: inEarlier as never }],
      eventContext(context(tenant)),
    );
    const [key] = inEarlier['keys'] as { didDocumentKeyId: string }[];
    const { didDocumentKeyId } = key!;
    const method = async () =>
      (
        await issuance().call(
          findProofMethod,
          { body: { tenantId: tenant.id, verificationMethod: didDocumentKeyId } },
          { requestId: 'r', operation: 'test', deadline: Date.now() + 20_000 },
        )
      ).verificationMethod;
    publish('/earlier/did.json', inEarlier['document'] as object);
    expect(await method()).toBe(didDocumentKeyId);
    const updated = await service.client.call(updateDidDocument, { params: { id: before } }, context(tenant));
    expect(updated.localMetadata.initialDidDocument['@context']).toContain('https://w3id.org/security/multikey/v1');
    expect(updated.registrationStatus).toBe('COMPLETED');
    const again = await service.client.call(updateDidDocument, { params: { id: before } }, context(tenant));
    expect(again).toEqual(updated);
    const listed = (await list(tenant)).data.find(({ did }) => did === before);
    expect(listed?.localMetadata).toEqual(updated.localMetadata);
    expect(await method()).toBe(didDocumentKeyId);
    publish('/earlier/did.json', updated.localMetadata.initialDidDocument);
    await waitUntil(async () => (await method()) === `${didDocumentKeyId}-mk`);
    expect((await streamOf(tenant, before)).map(({ type }) => type)).toEqual([
      'DidCreated',
      'DidPublicationSeen',
      'DidDocumentUpdated',
      'DidMultikeysSeen',
    ]);
  });

  it('third-party DIDs resolve to their document, without metadata [T30]', async () => {
    const tenant = newTenant();
    const did = didAt('other');
    const didDocument = { '@context': 'https://www.w3.org/ns/did/v1', id: did, service: [] };
    publish('/other/did.json', didDocument);
    expect(await retrieve(tenant, did)).toEqual({ did, didDocument });
    paths.delete('/other/did.json');
    // Kept for a minute, for every tenant.
    expect(await retrieve(newTenant(), did)).toEqual({ did, didDocument });
    const key = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
    expect(await retrieve(tenant, key)).toEqual({ did: key, didDocument: expect.objectContaining({ id: key }) });
    const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    const didJwk = `did:jwk:${Buffer.from(JSON.stringify(jwk)).toString('base64url')}`;
    expect(await retrieve(tenant, didJwk)).toMatchObject({
      did: didJwk,
      didDocument: { verificationMethod: [{ id: `${didJwk}#0`, publicKeyJwk: jwk }] },
    });
    expect(await list(tenant)).toEqual({ data: [] });
  });

  it('a did:key of another tenant resolves to its public document and nothing else', async () => {
    const made = await createKey(newTenant());
    expect(await retrieve(newTenant(), made.did)).toEqual({
      did: made.did,
      didDocument: made.localMetadata.initialDidDocument,
    });
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['a document of another DID', (response) => response.end(JSON.stringify({ id: 'did:web:other.example' }))],
    ['text that is not JSON', (response) => response.end('<html></html>')],
    ['null', (response) => response.end('null')],
    ['a redirect', (response) => response.writeHead(302, { location: '/redirected/did.json' }).end()],
    ['status 500', (response) => response.writeHead(500).end(JSON.stringify({ id: didAt('status-500') }))],
    ['300 kB', (response) => response.end(JSON.stringify({ id: didAt('300-kB'), x: 'x'.repeat(300_000) }))],
    [
      'JSON with thousands of levels',
      (response) =>
        response.end(
          `{"id":"${didAt('JSON-with-thousands-of-levels')}","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
        ),
    ],
    ['no bytes before the deadline', () => undefined],
  ])('a response of %s is a 404', async (name, answer) => {
    const path = name.replaceAll(' ', '-');
    paths.set(`/${path}/did.json`, answer);
    publish('/redirected/did.json', { id: didAt(path) });
    requests = [];
    expect(await refusal(retrieve(newTenant(), didAt(path)))).toMatchObject({ kind: 'notFound', code: 'NotFound' });
    expect(requests).toEqual([`/${path}/did.json`]);
  });

  it('private targets are not requested unless they are allowed', async () => {
    const guarded = new Outbound(false);
    const config = parseConfig({ NODE_ENV: 'test' });
    publish('/private/did.json', { id: didAt('private') });
    requests = [];
    expect(await new PublishedDocuments(guarded, config).fetch(uuid(), didAt('private'))).toBeUndefined();
    expect(requests).toEqual([]);
    await guarded.close();
  });

  it('a deleted DID does not resolve for its tenant', async () => {
    const tenant = newTenant();
    const { did } = await createKey(tenant);
    await remove(tenant, did);
    expect(await refusal(retrieve(tenant, did))).toMatchObject({ kind: 'notFound' });
  });
});

describe('another tenant', () => {
  it('neither sees, deletes, reserves nor serves a DID', async () => {
    const [owner, other] = [newTenant(), newTenant()];
    const { did } = await createWeb(owner);
    expect(await refusal(retrieve(other, did))).toMatchObject({ kind: 'notFound' });
    expect(await refusal(remove(other, did))).toMatchObject({ kind: 'notFound' });
    expect(await list(other)).toEqual({ data: [] });
    expect(await refusal(document(other, '/.well-known/did.json'))).toMatchObject({ kind: 'notFound' });
    expect(await refusal(reserve(other, uuid(), did))).toMatchObject({ details: [{ param: 'issuerDid' }] });
    expect(await refusal(reserve(other, uuid()))).toMatchObject({ details: [{ param: 'issuerDid' }] });
    await release(other, uuid(), did);
    expect(await retrieve(owner, did)).toMatchObject({ did });
  });
});

describe('checking a DID for issuance', () => {
  it('finds the DIDs of the tenant until they are deleted, and no others [T201]', async () => {
    const [owner, other] = [newTenant(), newTenant()];
    const { did } = await createWeb(owner);
    const found = async () => [await exists(owner, did), await exists(other, did)];
    expect(await found()).toEqual([true, false]);
    for (const one of ['did:web:nobody.example', 'not a DID']) expect(await exists(owner, one)).toBe(false);
    await remove(owner, did);
    expect(await found()).toEqual([false, false]);
  });
});

describe('reserving an issuer key', () => {
  it('selects the best algorithm of the named DID, and the same when repeated', async () => {
    const tenant = newTenant();
    const { did, localMetadata } = await createWeb(tenant);
    const configurationId = uuid();
    const key = await reserve(tenant, configurationId, did);
    const p256 = localMetadata.keys[0]!;
    expect(key).toEqual({
      did,
      verificationMethod: p256.didDocumentKeyId,
      kmsKeyId: p256.kmsKeyId,
      algorithm: 'P-256',
    });
    expect(await reserve(tenant, configurationId.toUpperCase(), did)).toEqual(key);
    expect(await reserve(tenant, configurationId)).toEqual(key);
    expect((await streamOf(tenant, did)).map(({ type }) => type)).toEqual(['DidCreated', 'DidReserved']);
    expect((await reserve(tenant, uuid(), did, ['Ed25519'])).verificationMethod).toBe(
      localMetadata.keys[1]!.didDocumentKeyId,
    );
  });

  it('selects the oldest suitable DID, and the same when repeated', async () => {
    const tenant = newTenant();
    const oldest = await createKey(tenant);
    pass(1);
    const p256 = await createKey(tenant, 'P-256');
    pass(1);
    await createWeb(tenant);
    expect(await reserve(tenant, uuid())).toMatchObject({ did: oldest.did, algorithm: 'Ed25519' });
    const configurationId = uuid();
    expect(await reserve(tenant, configurationId, undefined, ['P-256'])).toMatchObject({ did: p256.did });
    // Both would fit now, but this configuration has chosen.
    expect(await reserve(tenant, configurationId)).toMatchObject({ did: p256.did, algorithm: 'P-256' });
  });

  it('considers a DID that was created immediately before', async () => {
    const tenant = newTenant();
    const { did } = await createKey(tenant);
    expect(await reserve(tenant, uuid())).toMatchObject({ did });
  });

  it('considers all candidates, oldest first, except deleted ones', async () => {
    const tenant = newTenant();
    const made: string[] = [];
    for (let i = 0; i < 24; i++) {
      made.push((await createKey(tenant, i === 3 ? 'P-256' : 'Ed25519')).did);
      pass(1);
    }
    await remove(tenant, made[0]!);
    const candidates: string[] = [];
    const lists = service.get(DidListsReadModel);
    for await (const did of lists.issuers(tenant.id, uuid(), ['Ed25519'])) candidates.push(did);
    expect(candidates).toEqual(made.filter((_, i) => i !== 0 && i !== 3));
    expect(await reserve(tenant, uuid(), undefined, ['Ed25519'])).toMatchObject({ did: made[1] });
  });

  it('chooses the oldest did:web where the method is given, and names the member of the caller', async () => {
    const tenant = newTenant();
    const web = { method: 'web', member: 'issuer' } as const;
    await createKey(tenant, 'P-256');
    const refused = refusal(reserve(tenant, uuid(), undefined, ['P-256'], web));
    expect((await refused).details).toEqual([
      { msg: 'the tenant has no did:web with an assertion key of type P-256', param: 'issuer', location: 'body' },
    ]);
    pass(1);
    const { did } = await createWeb(tenant);
    pass(1);
    await createWeb(tenant, `${tenant.host}/later`);
    expect(await reserve(tenant, uuid(), undefined, ['P-256'], web)).toMatchObject({ did, algorithm: 'P-256' });
    for (const [named, msg] of [
      ['did:web:nobody.example', 'must be a DID of this tenant'],
      ['nonsense', 'must be a DID'],
    ] as const)
      expect((await refusal(reserve(tenant, uuid(), named, ['P-256'], web))).details).toEqual([
        { value: named, msg, param: 'issuer', location: 'body' },
      ]);
  });

  describe('whose document is not published where it names it [T621]', () => {
    const UNPUBLISHED =
      'must have the registrationStatus COMPLETED: its initialDidDocument was not found, unchanged, where the DID names it';
    const link = async ({ id: tenantId }: TenantContext, domain: string) => {
      const [subject, data] = [customDomainVerified.subject, { tenantId, domain, revision: 1 }];
      const headers = { tenantId, requestId: 'verify', occurredAt: new Date().toISOString() };
      await service.engines.bus.publish([{ id: `linked-${tenantId}`, subject, headers, data }]);
      const directory = service.get(LinkedDomain);
      await waitUntil(async () => (await directory.loadLinkedDomain(tenantId)).domain === domain, {
        what: 'the linked domain',
      });
    };
    /** A host on which documents are published at `/<path>/did.json`. */
    const serve = async () => {
      const documents = new Map<string, unknown>();
      const server = createServer((request, response) => {
        const document = documents.get(request.url!);
        response.statusCode = document === undefined ? 404 : 200;
        response.setHeader('content-type', 'application/json').end(JSON.stringify(document ?? {}));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const host = `localhost:${(server.address() as AddressInfo).port}`;
      return { documents, host, end: () => new Promise((resolve) => server.close(resolve)) };
    };

    it('is not chosen: the oldest COMPLETED one is', async () => {
      const tenant = newTenant();
      await createWeb(tenant, 'first.example');
      pass(1);
      expect((await refusal(reserve(tenant, uuid()))).details).toEqual([
        {
          msg: 'the tenant has no DID with an assertion key of type P-256 or Ed25519 whose registrationStatus is COMPLETED; publish the initialDidDocument of one, or name another DID',
          param: 'issuerDid',
          location: 'body',
        },
      ]);
      const { did } = await createWeb(tenant);
      pass(1);
      await createKey(tenant);
      expect(await reserve(tenant, uuid())).toMatchObject({ did });
    });

    it('is refused when it is named, and looked up as its retrieval does', async () => {
      const { documents, host, end } = await serve();
      try {
        const tenant = newTenant();
        const made = await createWeb(tenant, `${host}/a`);
        const named = made.did;
        const detail = { value: named, msg: UNPUBLISHED, param: 'issuerDid', location: 'body' };
        expect((await refusal(reserve(tenant, uuid(), named))).details).toEqual([detail]);
        pass(1);
        const other = await createWeb(tenant, `${host}/b`);
        // Answers are remembered for two seconds of real time.
        documents.set('/b/did.json', other.localMetadata.initialDidDocument);
        expect(await reserve(tenant, uuid(), other.did)).toMatchObject({ did: other.did });
        expect((await retrieve(tenant, other.did)) as DidRecord).toMatchObject({ registrationStatus: 'COMPLETED' });
        expect((await streamOf(tenant, named)).map(({ type }) => type)).toEqual(['DidCreated']);
      } finally {
        await end();
      }
    });

    it('is chosen where no other is COMPLETED and it was published since', async () => {
      const { documents, host, end } = await serve();
      try {
        const tenant = newTenant();
        const { did, localMetadata } = await createWeb(tenant, `${host}/c`);
        documents.set('/c/did.json', localMetadata.initialDidDocument);
        expect(await reserve(tenant, uuid())).toMatchObject({ did });
      } finally {
        await end();
      }
    });

    it('is accepted on the verified domain of the tenant, and named as not published', async () => {
      const [tenant, other] = [newTenant(), newTenant()];
      const domain = `d${count}.example`;
      await link(tenant, domain);
      const { did } = await createWeb(tenant, `${domain}/x`);
      expect(await reserve(tenant, uuid(), did)).toMatchObject({ did, isUnpublished: true });
      expect(await reserve(tenant, uuid())).toMatchObject({ did, isUnpublished: true });
      const foreign = await createWeb(tenant, `${domain}.org`);
      expect((await refusal(reserve(tenant, uuid(), foreign.did))).details).toMatchObject([{ msg: UNPUBLISHED }]);
      const theirs = await createWeb(other, `${domain}/x`);
      expect((await refusal(reserve(other, uuid(), theirs.did))).details).toMatchObject([{ msg: UNPUBLISHED }]);
    });
  });

  it('is refused with param issuerDid when no DID is suitable', async () => {
    const tenant = newTenant();
    expect(await refusal(reserve(tenant, uuid()))).toMatchObject({
      kind: 'invalid',
      details: [{ param: 'issuerDid', location: 'body', msg: expect.stringContaining('P-256 or Ed25519') }],
    });
    const { did } = await createKey(tenant, 'P-256');
    for (const [named, algorithms] of [
      [did, ['Ed25519']],
      ['did:web:nobody.example', ['P-256']],
      ['nonsense', ['P-256']],
    ] as [string, IssuerKey['algorithm'][]][])
      expect(await refusal(reserve(tenant, uuid(), named, algorithms))).toMatchObject({
        kind: 'invalid',
        details: [{ param: 'issuerDid' }],
      });
  });
});

describe('domain linkage', () => {
  /** Other tenants' documents are not here to be found. */
  const verification = (tenant: TenantContext) => ({
    now: new Date(clock.time),
    resolve: async (did: string) => {
      const path = did.split(':').slice(3).join('/') || '.well-known';
      return (await document(tenant, `/${path}/did.json`)) as DidDocument;
    },
  });

  it('has a credential for every DID, newest first, that an independent library verifies [T24] [T25] [T26] [T160] [T786]', async () => {
    const tenant = newTenant();
    expect(await configuration(tenant)).toEqual({
      '@context': 'https://identity.foundation/.well-known/did-configuration/v1',
      entries: [],
      linked_dids: [],
    });
    const key = await createKey(tenant);
    pass(1000);
    const p256 = await createKey(tenant, 'P-256');
    pass(1000);
    const bls = await createKey(tenant, 'Bls12381G2');
    pass(1000);
    const web = await createWeb(tenant);
    pass(1000);
    const path = await createWeb(tenant, `${tenant.host}/a`);
    const { entries, linked_dids } = await configuration(tenant);
    expect(linked_dids).toEqual(entries);
    // The DIF allows no other members.
    for (const url of ['/.well-known/did-configuration.json', '/.well-known/did-configuration.json?v=1'])
      expect(await configuration(tenant, undefined, url)).toEqual({
        '@context': 'https://identity.foundation/.well-known/did-configuration/v1',
        linked_dids: entries,
      });
    expect(entries.map(({ issuer }) => issuer)).toEqual([path.did, web.did, bls.did, p256.did, key.did]);
    const dataIntegrity = (cryptosuite: string, proofValue: RegExp) => ({
      type: 'DataIntegrityProof',
      cryptosuite,
      proofValue: expect.stringMatching(proofValue),
    });
    for (const entry of entries) {
      await verifyDomainLinkage({ ...entry }, tenant.baseUrl, verification(tenant));
      const { proof, ...unsigned } = entry;
      expect(proof).toEqual({
        ...(entry.issuer === p256.did
          ? dataIntegrity('ecdsa-rdfc-2019', /^z[1-9A-HJ-NP-Za-km-z]{80,90}$/)
          : entry.issuer === bls.did
            ? dataIntegrity('bbs-2023', /^u2V0D[\w-]{380,420}$/)
            : {
                type: 'Ed25519Signature2018',
                jws: expect.stringMatching(/^eyJhbGciOiJFZERTQSIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il19\.\.[\w-]{86}$/),
              }),
        created: unsigned.issuanceDate,
        verificationMethod: expect.stringMatching(`^${entry.issuer}#`),
        proofPurpose: 'assertionMethod',
      });
      const forged = { ...entry, credentialSubject: { ...entry.credentialSubject, origin: 'https://evil.example' } };
      await expect(verifyDomainLinkage(forged, 'https://evil.example', verification(tenant))).rejects.toThrow('verif');
      const later = { ...verification(tenant), now: new Date(Date.parse(entry.expirationDate) + 600_000) };
      await expect(verifyDomainLinkage({ ...entry }, tenant.baseUrl, later)).rejects.toThrow('verif');
    }
  });

  it.each(['P-256', 'Bls12381G2'])(
    'is signed again by another process with a %s key, as its proofs are random',
    async (type) => {
      const tenant = newTenant();
      await createKey(tenant, type);
      const before = await configuration(tenant);
      expect(await configuration(tenant)).toEqual(before);
      await service.restart();
      const [{ proof: _, ...document }] = before.entries as [(typeof before.entries)[number]];
      const [after] = (await configuration(tenant)).entries;
      expect(after).toMatchObject(document);
      await verifyDomainLinkage({ ...after! }, tenant.baseUrl, verification(tenant));
    },
  );

  it('is the same at every request, in every process', async () => {
    const tenant = newTenant();
    await createKey(tenant);
    const before = await configuration(tenant);
    pass(60_000);
    expect(await configuration(tenant)).toEqual(before);
    await service.restart();
    expect(await configuration(tenant)).toEqual(before);
  });

  it('ends with its DID, and does not appear for other tenants', async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    const kept = await createKey(tenant);
    const gone = await createKey(tenant);
    expect((await configuration(tenant)).entries).toHaveLength(2);
    expect((await configuration(other)).entries).toEqual([]);
    await remove(tenant, gone.did);
    expect((await configuration(tenant)).entries.map(({ issuer }) => issuer)).toEqual([kept.did]);
  });

  it('has a second credential with the origin of a verified custom domain, which is the only one served there', async () => {
    const [tenant, other] = [newTenant(), newTenant()];
    const { did } = await createKey(tenant);
    await createKey(other);
    const custom = 'http://brand.example';
    const originsOf = async (one: TenantContext, publicUrl?: string) =>
      (await configuration(one, publicUrl)).entries.map(({ credentialSubject }) => credentialSubject.origin);
    const publish = (type: typeof customDomainVerified, revision: number) =>
      service.engines.bus.publish([
        {
          id: `${tenant.id}-${revision}`,
          subject: type.subject,
          headers: { tenantId: tenant.id, requestId: 'request', occurredAt: new Date(clock.time).toISOString() },
          data: { tenantId: tenant.id, domain: 'brand.example', revision },
        },
      ]);
    expect(await originsOf(tenant)).toEqual([tenant.baseUrl]);
    await publish(customDomainVerified, 1);
    await waitUntil(async () => (await originsOf(tenant)).length === 2, { what: 'the new origin' });
    expect(await originsOf(tenant)).toEqual([tenant.baseUrl, custom]);
    expect(await originsOf(other)).toEqual([other.baseUrl]);
    const { entries } = await configuration(tenant, custom);
    expect(entries.map(({ issuer }) => issuer)).toEqual([did]);
    await verifyDomainLinkage({ ...entries[0]! }, custom, verification(tenant));
    await expect(verifyDomainLinkage({ ...entries[0]! }, tenant.baseUrl, verification(tenant))).rejects.toThrow();

    // It is stored, not only in the memory of this process.
    await service.restart();
    expect(await originsOf(tenant)).toEqual([tenant.baseUrl, custom]);
    await publish(customDomainWithdrawn, 2);
    await waitUntil(async () => (await originsOf(tenant)).length === 1, { what: 'its end' });
    expect(await originsOf(tenant)).toEqual([tenant.baseUrl]);
  });
});

describe('deleting', () => {
  it('returns no content, destroys the keys and hides the DID; a second deletion is a 404', async () => {
    const tenant = newTenant();
    const { did } = await createWeb(tenant);
    expect((await remove(tenant, did)) ?? null).toBeNull();
    expect(await vaultKeys(tenant)).toEqual([]);
    expect(await list(tenant)).toEqual({ data: [] });
    for (const call of [retrieve(tenant, did), remove(tenant, did), document(tenant, '/.well-known/did.json')])
      expect(await refusal(call)).toMatchObject({ kind: 'notFound' });
    expect(await refusal(reserve(tenant, uuid(), did))).toMatchObject({ details: [{ param: 'issuerDid' }] });
  });

  it('releases a did:web, which gets other keys when it is created again', async () => {
    const tenant = newTenant();
    const before = await createWeb(tenant);
    await remove(tenant, before.did);
    pass(1);
    const after = await createWeb(tenant);
    expect(after.did).toBe(before.did);
    expect(after.localMetadata.keys).not.toEqual(before.localMetadata.keys);
    expect((await list(tenant)).data).toEqual([{ did: after.did, localMetadata: after.localMetadata }]);
    expect(await document(tenant, '/.well-known/did.json')).toEqual(served(tenant, after));
  });

  it('is refused while a configuration uses the DID, and possible after its release', async () => {
    const tenant = newTenant();
    const { did } = await createKey(tenant);
    const configurationId = uuid();
    await reserve(tenant, configurationId, did);
    existing.add(configurationId);
    pass(3_600_000);
    expect(await refusal(remove(tenant, did))).toMatchObject({
      kind: 'invalid',
      code: 'BadRequest',
      details: [{ param: 'id', location: 'params', msg: expect.stringContaining('credential configuration') }],
    });
    expect(await vaultKeys(tenant)).toHaveLength(1);
    await release(tenant, configurationId, did);
    await release(tenant, configurationId, did);
    await remove(tenant, did);
    expect(await vaultKeys(tenant)).toEqual([]);
    await release(tenant, configurationId, did);
  });

  it('queries a reservation only after a minute, and ignores one whose configuration was never created', async () => {
    const tenant = newTenant();
    const { did } = await createKey(tenant);
    const configurationId = uuid();
    await reserve(tenant, configurationId, did);
    requested = [];
    pass(60_000);
    expect(await refusal(remove(tenant, did))).toMatchObject({ kind: 'invalid' });
    expect(requested).toEqual([]);
    pass(1);
    // While a younger one holds the DID, the answer about the older would change nothing.
    const young = uuid();
    await reserve(tenant, young, did);
    expect(await refusal(remove(tenant, did))).toMatchObject({ kind: 'invalid' });
    expect(requested).toEqual([]);
    await release(tenant, young, did);
    await remove(tenant, did);
    expect(requested).toEqual([configurationId]);
    expect((await streamOf(tenant, did)).map(({ type }) => type)).toEqual([
      'DidCreated',
      'DidReserved',
      'DidReserved',
      'DidReleased',
      'DidReleased',
      'DidDeletionStarted',
      'DidDeleted',
    ]);
  });

  it('and reserving concurrently: one of them succeeds, and a reserved DID has its key', async () => {
    for (let round = 0; round < 10; round++) {
      const tenant = newTenant();
      const { did } = await createKey(tenant);
      const [reserved, removed] = await Promise.allSettled(
        round % 2
          ? [reserve(tenant, uuid(), did), remove(tenant, did)]
          : [remove(tenant, did), reserve(tenant, uuid(), did)],
      ).then((outcomes) => (round % 2 ? outcomes : outcomes.reverse()));
      expect([reserved!.status, removed!.status].sort()).toEqual(['fulfilled', 'rejected']);
      if (reserved!.status === 'fulfilled') {
        const { kmsKeyId } = reserved!.value as IssuerKey;
        await expect(service.engines.vault.signingKeys.loadSigner(tenant.id, kmsKeyId)).resolves.toMatchObject({
          keyId: kmsKeyId,
        });
      } else {
        expect(await vaultKeys(tenant)).toEqual([]);
      }
    }
  });

  it('twice concurrently is no error and one deletion', async () => {
    const tenant = newTenant();
    const { did } = await createKey(tenant);
    const outcomes = await Promise.allSettled([remove(tenant, did), remove(tenant, did)]);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ kind: 'notFound' });
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
    const types = (await streamOf(tenant, did)).map(({ type }) => type);
    expect(types).toEqual(['DidCreated', 'DidDeletionStarted', 'DidDeleted']);
  });

  it('that was interrupted is completed by the reaction', async () => {
    const tenant = newTenant();
    const { did } = await createKey(tenant);
    await service.engines.streams.runDecision(
      aggregate,
      didStream(tenant.id, did),
      (state) => startDeletion(state, { abandoned: new Set() }, clock.now()),
      { tenantId: tenant.id, requestId: 'broken', actor: 'client:c', operation: 'dids.delete-did' },
    );
    await waitUntil(async () => (await streamOf(tenant, did)).at(-1)!.type === 'DidDeleted');
    expect(await vaultKeys(tenant)).toEqual([]);
    expect((await streamOf(tenant, did)).at(-1)!.metadata).toMatchObject({ tenantId: tenant.id, requestId: 'broken' });
  });
});

describe('integration events', () => {
  it('name the DIDs that were created and deleted', async () => {
    const tenant = newTenant();
    const { did } = await createWeb(tenant);
    await reserve(tenant, uuid(), did);
    const { did: key } = await createKey(tenant);
    await remove(tenant, key);
    const mine = () => service.messages.filter(({ headers }) => headers['tenantId'] === tenant.id);
    await waitUntil(() => mine().length === 3);
    expect(mine().map(({ subject, data }) => [subject, data])).toEqual([
      ['event.dids.did-created', { tenantId: tenant.id, did, method: 'web' }],
      ['event.dids.did-created', { tenantId: tenant.id, did: key, method: 'key' }],
      ['event.dids.did-deleted', { tenantId: tenant.id, did: key }],
    ]);
  });
});

describe('after a restart', () => {
  it('all data are available, and the service is healthy', async () => {
    const tenant = newTenant();
    const made = await createWeb(tenant);
    const configurationId = uuid();
    const key = await reserve(tenant, configurationId, made.did);
    await service.restart();
    expect(await retrieve(tenant, made.did)).toEqual(made);
    expect((await list(tenant)).data.map(({ did }) => did)).toEqual([made.did]);
    expect(await reserve(tenant, configurationId)).toEqual(key);
    await waitUntil(() => service.engines.health.report().ready);
  });

  it('no event contains a private key', async () => {
    for (const file of await readdir(service.folder)) {
      if (!file.startsWith('events.db')) continue;
      const text = (await readFile(join(service.folder, file))).toString('latin1');
      expect(text).not.toMatch(/"d":"|PRIVATE KEY/);
    }
    expect((await readdir(service.folder)).some((file) => file.startsWith('events.db'))).toBe(true);
  });
});
