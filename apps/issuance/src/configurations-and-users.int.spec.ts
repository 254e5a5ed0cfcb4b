/** @engines embedded postgres */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AppError,
  callersOf,
  checkCredentialConfiguration,
  compactConfigurations,
  compactSemanticConfigurations,
  createUser,
  credentialIssued,
  deleteUser,
  jwtVcConfigurations,
  listUserCredentials,
  listUsers,
  releaseIssuerKey,
  reserveIssuerKey,
  retrieveContext,
  retrieveUser,
  updateUser,
  userDeleted,
  webSemanticConfigurations,
  type CompactSemanticConfiguration,
  type JwtVcConfiguration,
  type Operation,
  type OperationContext,
  type PageOf,
  type ReserveIssuerKeyRequest,
  type TenantContext,
  type User,
  type UserCredential,
  type WebSemanticConfiguration,
  type WebSemanticConfigurationRequest,
} from '@attestry/contracts';
import { ERASED } from '@attestry/keys';
import type { FeedMessage } from '@attestry/messaging';
import { eventContext, type RequestOf } from '@attestry/service-kit';
import { restoreKeys, waitUntil } from '@attestry/testing';
import { refusal, ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { ContextLoader } from './vocabularies/contexts/context-loader.js';
import type { LdpVcContent } from './formats/ldp-vc/ldp-vc.decisions.js';
import jsonld from 'jsonld';
import { CREDENTIALS_V2 } from '@attestry/linked-data';
import { ConfigurationsReadModel } from './settings/credential-configuration/configurations.read-model.js';
import { issuanceService } from './index.js';
import type {
  CredentialIssuedData,
  IssuanceSessionEvent,
} from './sessions/issuance-session/issuance-session.events.js';
import { issuanceSession, issuanceSessionStream } from './sessions/issuance-session/issuance-session.state.js';
import { credentialType } from './settings/credential-configuration/credential-type.claim.js';
import { user, userStream } from './users/user/user.state.js';
import { UsersReadModel } from './users/user/users.read-model.js';

const ACME = { id: '10000000-0000-4000-8000-00000000000a', name: 'acme' };
const BETA = { id: '10000000-0000-4000-8000-00000000000b', name: 'beta' };
const UNKNOWN_ID = '99999999-9999-4999-8999-999999999999';
const DID = 'did:web:acme.example';

const clock = stoppedClock();

/** A simulated dids service. */
const dids = {
  reservations: new Map<string, string>(),
  requested: [] as ReserveIssuerKeyRequest[],
  failReleases: 0,
};

const service = new ServiceUnderTest(issuanceService, { settings: { ALLOW_PRIVATE_TARGETS: 'true' }, clock });
service.answer(reserveIssuerKey, ({ body }) => {
  dids.requested.push(body);
  if (body.did === 'did:web:other.example') {
    const details = [{ msg: 'Invalid value', param: body.member ?? 'issuerDid', location: 'body' as const }];
    throw new AppError('invalid', 'Validation Error', { details });
  }
  dids.reservations.set(body.configurationId, DID);
  return { did: DID, verificationMethod: `${DID}#k1`, kmsKeyId: UNKNOWN_ID, algorithm: body.algorithms[0]! };
});
service.answer(releaseIssuerKey, ({ body }) => {
  if (dids.failReleases-- > 0) throw new AppError('unavailable', 'later');
  if (dids.reservations.get(body.configurationId) === body.did) dids.reservations.delete(body.configurationId);
});

const open = async () => {
  await service.open();
  await until(() => service.engines.health.report().ready);
};
const close = () => service.close();

const context = (operation: Operation, tenant = ACME): OperationContext & { tenant: TenantContext } => ({
  tenant: {
    id: tenant.id,
    host: `${tenant.name}.localhost`,
    baseUrl: `http://${tenant.name}.localhost`,
  },
  caller: operation.access.kind === 'public' ? { kind: 'public' } : { kind: 'client', clientId: 'c'.repeat(32) },
  requestId: 'r'.repeat(22),
  operation: operation.name,
  deadline: Date.now() + 20_000,
  publicUrl: `http://${tenant.name}.localhost`,
});

const call = async <T>(operation: Operation, request: object, tenant = ACME): Promise<T> =>
  (await service
    .clientOf(callersOf(operation)[0]!)
    .call(operation, request as Partial<RequestOf<Operation>>, context(operation, tenant))) as T;

const paramsOf = async (promise: Promise<unknown>): Promise<string[]> => {
  const error = await refusal(promise);
  expect(error.kind).toBe('invalid');
  return (error.details ?? []).map(({ param }) => param);
};
const until = (condition: () => boolean | Promise<boolean>) => waitUntil(condition, { intervalMs: 10 });

let serial = 0;
const body = (more: Partial<WebSemanticConfigurationRequest> = {}): WebSemanticConfigurationRequest => ({
  type: `Type${++serial}`,
  name: 'Membership',
  issuer: { name: 'Acme' },
  claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  ...more,
});

beforeAll(() => open());
afterAll(() => service.remove());

describe.each([
  ['web-semantic', webSemanticConfigurations, jwtVcConfigurations, ['Ed25519']],
  ['jwt-vc', jwtVcConfigurations, webSemanticConfigurations, ['P-256', 'Ed25519']],
] as const)('%s configurations', (_profile, operations, others, algorithms) => {
  const create = (more: Partial<WebSemanticConfigurationRequest> = {}, tenant = ACME) =>
    call<WebSemanticConfiguration>(operations.create, { body: body(more) }, tenant);

  it('are created, retrieved, listed, replaced and deleted', async () => {
    const created = await create({ expiresIn: { years: 1 }, additionalTypes: ['Card'], description: 'A card' });
    expect(created).toMatchObject({
      additionalTypes: ['Card'],
      description: 'A card',
      expiresIn: { years: 1 },
      issuerDid: DID,
      revocable: false,
      persist: false,
    });
    expect(created.proofType).toBe(operations === webSemanticConfigurations ? 'eddsa-rdfc-2022' : undefined);
    expect(dids.requested.at(-1)).toMatchObject({ algorithms, configurationId: created.id });

    const params = { id: created.id };
    expect(await call(operations.retrieve, { params })).toEqual(created);
    const listed = await call<PageOf<JwtVcConfiguration>>(operations.list, { query: { type: created.type } });
    expect(listed).toEqual({ data: [created] });

    const { type } = created;
    const replaced = await call(operations.update, { params, body: body({ type, name: 'Member' }) });
    expect(replaced).toMatchObject({ id: created.id, type, name: 'Member', additionalTypes: [], issuerDid: DID });
    expect(replaced).not.toHaveProperty('description');
    expect(replaced).not.toHaveProperty('expiresIn');
    expect(await call(operations.list, { query: { type } })).toEqual({ data: [replaced] });
    const rows = await service.get(ConfigurationsReadModel).listAll(ACME.id);
    expect(rows.find(({ id }) => id === created.id)?.version).toBe(2);
    expect(await paramsOf(call(operations.update, { params, body: body() }))).toEqual(['type']);
    expect(
      await paramsOf(call(operations.update, { params, body: body({ type, issuerDid: 'did:web:x.example' }) })),
    ).toEqual(['issuerDid']);

    const check = () => call(checkCredentialConfiguration, { body: { configurationId: created.id } });
    expect(await check()).toEqual({ exists: true });
    await call(operations.delete, { params });
    expect(await check()).toEqual({ exists: false });
    expect(await call(operations.list, { query: { type } })).toEqual({ data: [] });
    for (const operation of [operations.retrieve, operations.delete])
      expect((await refusal(call(operation, { params }))).code).toBe('NotFound');
    expect((await refusal(call(operations.update, { params, body: body({ type }) }))).code).toBe('NotFound');
    // The name is free again at once.
    await create({ type });
  });

  it('do not exist under another format or for another tenant', async () => {
    const created = await create();
    const params = { id: created.id };
    const replacement = { params, body: body({ type: created.type }) };
    for (const [operation, request, tenant] of [
      [others.retrieve, { params }, ACME],
      [others.update, replacement, ACME],
      [others.delete, { params }, ACME],
      [operations.retrieve, { params }, BETA],
      [operations.update, replacement, BETA],
      [operations.delete, { params }, BETA],
    ] as const)
      expect((await refusal(call(operation, request, tenant))).code).toBe('NotFound');
    const query = { type: created.type };
    expect(await call(others.list, { query })).toEqual({ data: [] });
    expect(await call(operations.list, { query }, BETA)).toEqual({ data: [] });
    expect(await call(operations.retrieve, { params })).toEqual(created);
  });

  it('have a unique type per format and tenant', async () => {
    const { type } = await create();
    const reserved = dids.reservations.size;
    expect(await paramsOf(create({ type }))).toEqual(['type']);
    expect(dids.reservations.size).toBe(reserved);
    await create({ type }, BETA);
    await call(others.create, { body: body({ type }) });
  });

  it('created concurrently with one type: exactly one succeeds, and the others keep no DID', async () => {
    const before = dids.reservations.size;
    const type = `Race${++serial}`;
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => create({ type })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ kind: 'invalid', details: [{ param: 'type' }] });
    expect(dids.reservations.size).toBe(before + 1);
    expect((await call<PageOf<JwtVcConfiguration>>(operations.list, { query: { type } })).data).toHaveLength(1);
  });

  it('leave nothing behind when no DID is suitable', async () => {
    const type = `NoDid${++serial}`;
    expect(await paramsOf(create({ type, issuerDid: 'did:web:other.example' }))).toEqual(['issuerDid']);
    expect(await call(operations.list, { query: { type } })).toEqual({ data: [] });
    await create({ type });
  });

  it('take over the type of an owner that was never created, after a minute', async () => {
    const type = `Orphan${++serial}`;
    const format = operations === webSemanticConfigurations ? 'ldp_vc' : 'jwt_vc_json';
    await service.engines.streams.runDecision(
      credentialType,
      credentialType.stream(ACME.id, format, type),
      (state) => credentialType.claim(state, { owner: UNKNOWN_ID }, { now: clock.now().toISOString() }),
      eventContext(context(operations.create)),
    );
    expect(await paramsOf(create({ type }))).toEqual(['type']);
    clock.time += 60_000;
    await create({ type });
  });

  it('are refused with a detail per fault, and nothing is reserved', async () => {
    const requested = dids.requested.length;
    // Everything else of the specification is supported there.
    const unsupported = operations === webSemanticConfigurations ? {} : { persist: true };
    const faulty = body({ type: 'VerifiableCredential', ...unsupported, expiresIn: {} });
    expect(await paramsOf(call(operations.create, { body: faulty }))).toEqual([
      'type',
      'expiresIn',
      ...Object.keys(unsupported),
    ]);
    const unknown = { claimSourceId: UNKNOWN_ID };
    expect(await paramsOf(call(operations.create, { body: body(unknown) }))).toEqual(['claimSourceId']);
    expect(await paramsOf(call(operations.create, { body: { ...body(), name: 7, claimMappings: [] } }))).toEqual([
      'name',
      'claimMappings',
    ]);
    expect(await paramsOf(call(operations.create, { body: body({ type: 'two words' }) }))).toEqual(['type']);
    expect(await paramsOf(call(operations.retrieve, { params: { id: 'x' } }))).toEqual(['id']);
    expect(dids.requested).toHaveLength(requested);
  });

  it('are listed in pages whose cursor belongs to tenant, format and filter', async () => {
    for (let n = 0; n < 3; n++) await create();
    const all = await call<PageOf<JwtVcConfiguration>>(operations.list, {});
    const seen: JwtVcConfiguration[] = [];
    let cursor: string | undefined;
    do {
      const query: object = { limit: '2', ...(cursor && { cursor }) };
      const page = await call<PageOf<JwtVcConfiguration>>(operations.list, { query });
      seen.push(...page.data);
      if (page.nextCursor) cursor = page.nextCursor;
      else break;
    } while (seen.length < 1000);
    expect(seen).toEqual(all.data);
    expect(cursor).toBeDefined();
    expect(await paramsOf(call(operations.list, { query: { cursor } }, BETA))).toEqual(['cursor']);
    expect(await paramsOf(call(others.list, { query: { cursor } }))).toEqual(['cursor']);
    expect(await paramsOf(call(operations.list, { query: { cursor: 'x' } }))).toEqual(['cursor']);
    expect(await paramsOf(call(operations.list, { query: { limit: '0' } }))).toEqual(['limit']);
  });

  it('release their DID when deleted, after any number of refusals by dids', async () => {
    const { id } = await create();
    expect(dids.reservations.has(id)).toBe(true);
    dids.failReleases = 2;
    await call(operations.delete, { params: { id } });
    await until(() => !dids.reservations.has(id));
  });
});

describe('compact and compact-semantic configurations', () => {
  const cwt = (more: object = {}) => ({
    type: `Type${++serial}`,
    claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
    ...more,
  });
  const create = (operations: typeof compactConfigurations | typeof compactSemanticConfigurations, more: object = {}) =>
    call<CompactSemanticConfiguration>(operations.create, { body: cwt(more) });
  const taken = (type: string) => [
    { value: type, msg: 'is used by another credential configuration', param: 'type', location: 'body' },
  ];

  it.each([
    ['compact', compactConfigurations, {}],
    ['compact-semantic', compactSemanticConfigurations, { contexts: ['https://acme.example/c'] }],
  ] as const)('%s ones are created, retrieved, listed, replaced and deleted', async (_profile, operations, own) => {
    const created = await create(operations, { ...own, expiresIn: { years: 1 }, display: [{ name: 'Card' }] });
    expect(created).toEqual({
      ...{ id: created.id, type: created.type, issuer: DID, revocable: true, ...own },
      ...{ display: [{ name: 'Card' }], expiresIn: { years: 1 } },
      claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
    });
    expect(dids.requested.at(-1)).toEqual({
      ...{ algorithms: ['P-256'], method: 'web', member: 'issuer' },
      configurationId: created.id,
    });
    const params = { id: created.id };
    const { type } = created;
    expect(await call(operations.retrieve, { params })).toEqual(created);
    expect(await call(operations.list, { query: { type } })).toEqual({ data: [created] });

    const { id: _, ...back } = created;
    expect(await call(operations.update, { params, body: back })).toEqual(created);
    const replaced = await call<CompactSemanticConfiguration>(operations.update, { params, body: cwt({ type }) });
    expect(replaced).toMatchObject({ id: created.id, type, issuer: DID });
    expect(replaced).not.toHaveProperty('expiresIn');
    if (operations === compactSemanticConfigurations) expect(replaced.contexts).toEqual([]);
    const irrevocable = cwt({ type, revocable: false });
    expect(await call(operations.update, { params, body: irrevocable })).toMatchObject({ revocable: false });
    const elsewhere = cwt({ type, issuer: 'did:web:x.example' });
    expect((await refusal(call(operations.update, { params, body: elsewhere }))).details).toEqual([
      { value: 'did:web:x.example', msg: 'must not change', param: 'issuer', location: 'body' },
    ]);
    await call(operations.delete, { params });
    expect((await refusal(call(operations.retrieve, { params }))).code).toBe('NotFound');
  });

  it('issue with the DID that they name, which dids may refuse', async () => {
    const { id } = await create(compactConfigurations, { issuer: DID });
    expect(dids.requested.at(-1)).toMatchObject({ did: DID, configurationId: id });
    expect(await paramsOf(create(compactConfigurations, { issuer: 'did:web:other.example' }))).toEqual(['issuer']);
  });

  it('have no type in common, until the other one is deleted', async () => {
    const { id, type } = await create(compactConfigurations);
    expect((await refusal(create(compactSemanticConfigurations, { type }))).details).toEqual(taken(type));
    expect((await refusal(create(compactConfigurations, { type }))).details).toEqual(taken(type));
    await call(jwtVcConfigurations.create, { body: body({ type }) });
    await call(compactConfigurations.delete, { params: { id } });
    const semantic = await create(compactSemanticConfigurations, { type });
    expect((await refusal(create(compactConfigurations, { type }))).details).toEqual(taken(type));
    await call(compactSemanticConfigurations.delete, { params: { id: semantic.id } });
    await create(compactConfigurations, { type });
  });

  it('created concurrently with one type in both formats: exactly one succeeds, and the others keep no DID', async () => {
    const before = dids.reservations.size;
    const type = `Race${++serial}`;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) =>
        create(n % 2 ? compactConfigurations : compactSemanticConfigurations, { type }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ kind: 'invalid', details: [{ param: 'type' }] });
    expect(dids.reservations.size).toBe(before + 1);
    const lists = [compactConfigurations, compactSemanticConfigurations].map(({ list }) =>
      call<PageOf<CompactSemanticConfiguration>>(list, { query: { type } }),
    );
    expect((await Promise.all(lists)).flatMap(({ data }) => data)).toHaveLength(1);
  });
});

describe('the proof of web-semantic configurations', () => {
  it('decides which key is reserved, and can only be replaced by one of the same kind of key [T161]', async () => {
    const { create, update, retrieve } = webSemanticConfigurations;
    const request = body({ proofType: 'ecdsa-rdfc-2019' });
    const created = await call<WebSemanticConfiguration>(create, { body: request });
    expect(created.proofType).toBe('ecdsa-rdfc-2019');
    expect(dids.requested.at(-1)).toMatchObject({ algorithms: ['P-256'] });
    const params = { id: created.id };
    const replaced = await call(update, { params, body: { ...request, name: 'Member' } });
    expect(replaced).toMatchObject({ name: 'Member', proofType: 'ecdsa-rdfc-2019' });
    for (const proofType of [undefined, 'eddsa-rdfc-2022', 'Ed25519Signature2018'] as const)
      expect(await paramsOf(call(update, { params, body: { ...request, proofType } }))).toEqual(['proofType']);
    expect(await call(retrieve, { params })).toEqual(replaced);
    const unknown = await refusal(call(create, { body: { ...body(), proofType: 'BbsSignatureProof2022' } }));
    expect(unknown.details).toMatchObject([
      { param: 'proofType', msg: 'must be one of: eddsa-rdfc-2022, ecdsa-rdfc-2019, Ed25519Signature2018' },
    ]);
  });
});

const nested = (open: string, levels: number, close: string) => `${open.repeat(levels)}1${close.repeat(levels)}`;

describe('JSON-LD contexts', () => {
  let server: Server;
  let base: string;
  const answers = new Map<string, { status?: number; text: string }>();
  const requests: string[] = [];
  const create = (contexts: string[], tenant = ACME) =>
    call<WebSemanticConfiguration>(webSemanticConfigurations.create, { body: body({ contexts }) }, tenant);
  const serve = (path: string, text: string, status = 200) => {
    answers.set(path, { status, text });
    return base + path;
  };
  const pinnedBy = async (id: string, tenant = ACME) => {
    const all = await service.get(ConfigurationsReadModel).listAll(tenant.id);
    return (all.find((configuration) => configuration.id === id)!.content as LdpVcContent).contexts;
  };

  beforeAll(async () => {
    server = createServer((request, response) => {
      requests.push(request.url!);
      const answer = answers.get(request.url!) ?? { status: 404, text: '' };
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/ld+json', location: '/good' });
      response.end(answer.text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it("serves the platform's immutable context", async () => {
    const url = service.engines.config.contextUrl;
    expect(await call(retrieveContext, {})).toEqual({
      $http: {
        headers: { 'access-control-allow-origin': '*' },
        body: { '@context': { '@version': 1.1, '@vocab': `${url}#` } },
      },
    });
    expect(retrieveContext.http).toMatchObject({
      hosts: ['contexts'],
      cacheControl: expect.stringContaining('immutable'),
    });
  });

  it('fetches a context once and then loads the stored copy', async () => {
    const path = `/good-${++serial}`;
    const url = serve(path, JSON.stringify({ '@context': { given_name: 'https://schema.org/givenName' } }));
    const { id } = await create([url]);
    const pinned = await pinnedBy(id);
    expect(pinned).toEqual([{ url, sha256: expect.stringMatching(/^[\w-]{43}$/) }]);

    const loader = new ContextLoader(service.engines.streams, service.engines.config);
    const stored = await loader.pinnedTexts([...pinned, { url: CREDENTIALS_V2, sha256: 'x' }]);
    expect([...stored]).toEqual([[url, '{"@context":{"given_name":"https://schema.org/givenName"}}']]);
    const documentAt = (at: string) => loader.bundledAt(at) ?? (JSON.parse(stored.get(at)!) as object);

    const [expanded] = (await jsonld.expand(
      {
        '@context': [CREDENTIALS_V2, service.engines.config.contextUrl, url],
        type: ['VerifiableCredential', 'Anything'],
        issuer: DID,
        credentialSubject: { given_name: 'Ada', another: 1 },
      },
      {
        documentLoader: async (at) => ({ contextUrl: null, documentUrl: at, document: documentAt(at) }),
        safe: true,
      },
    )) as Record<string, Record<string, unknown>[]>[];
    const subject = expanded!['https://www.w3.org/2018/credentials#credentialSubject']![0]!;
    expect(Object.keys(subject)).toEqual([
      `${service.engines.config.contextUrl}#another`,
      'https://schema.org/givenName',
    ]);

    // The address may answer something else by now: a replacement keeps the document.
    serve(path, JSON.stringify({ '@context': { given_name: 'https://example.com/changed' } }));
    const { type } = await call<WebSemanticConfiguration>(webSemanticConfigurations.retrieve, { params: { id } });
    await call(webSemanticConfigurations.update, { params: { id }, body: body({ type, contexts: [url] }) });
    expect(await pinnedBy(id)).toEqual(pinned);
    expect(requests.filter((requested) => requested === path)).toHaveLength(1);

    // Another tenant gets the current document, and neither gets the other's.
    const other = await create([url], BETA);
    const theirs = await pinnedBy(other.id, BETA);
    expect(theirs[0]!.sha256).not.toBe(pinned[0]!.sha256);
    expect(await loader.pinnedTexts(theirs)).not.toEqual(stored);
  });

  it('does not fetch contexts that verifiers bundle', async () => {
    const before = requests.length;
    const { contexts } = await create(['https://www.w3.org/ns/credentials/undefined-terms/v2']);
    expect(contexts).toEqual(['https://www.w3.org/ns/credentials/undefined-terms/v2']);
    expect(requests).toHaveLength(before);
  });

  it.each([
    ['an unreachable address', () => 'http://127.0.0.1:1/'],
    ['a missing document', () => `${base}/missing`],
    ['a redirect', () => serve('/moved', '', 302)],
    ['no JSON', () => serve('/html', '<html></html>')],
    ['no context', () => serve('/json', '{"a":1}')],
    ['an array', () => serve('/array', '[]')],
    ['a broken context', () => serve('/broken', '{"@context":{"@version":7}}')],
    ['a redefinition of a protected term', () => serve('/protected', '{"@context":{"id":"https://x.example/id"}}')],
    ['a claim that is dropped', () => serve('/null', '{"@context":{"given_name":null}}')],
    ['more than 1 MiB', () => serve('/large', JSON.stringify({ '@context': {}, pad: 'x'.repeat(1024 * 1024) }))],
    ['more than an event holds', () => serve('/quotes', JSON.stringify({ '@context': {}, pad: '"'.repeat(400_000) }))],
    ['a reference to a document that is not listed', () => serve('/refers', '{"@context":["https://x.example/c",{}]}')],
    ['an import', () => serve('/imports', '{"@context":{"@import":"https://x.example/c"}}')],
    [
      'a scoped reference',
      () => serve('/scoped', '{"@context":{"a":{"@id":"https://x.example/a","@context":"https://x.example/c"}}}'),
    ],
    ['a context nested 60,000 deep', () => serve('/deep', `{"@context":${nested('[', 60_000, ']')}}`)],
    [
      'scoped contexts nested 5,000 deep',
      () => serve('/scopes', `{"@context":${nested('{"a":{"@context":', 5000, '}}')}}`),
    ],
    [
      'objects nested 33 deep beside the context',
      () => serve('/aside', `{"@context":{},"a":${nested('{"a":', 32, '}')}}`),
    ],
    [
      'more than 20,000 values',
      () => serve('/many', JSON.stringify({ '@context': {}, pad: Array.from({ length: 20_000 }, () => 1) })),
    ],
    ['a list that repeats a context', () => serve('/repeats', '{"@context":[{"a":"urn:a"},{"a":"urn:a"}]}')],
    [
      'a list that names a context twice, below a term',
      () => serve('/twice', `{"@context":{"a":{"@id":"urn:a","@context":["${CREDENTIALS_V2}","${CREDENTIALS_V2}"]}}}`),
    ],
    ['a container that is none', () => serve('/container', '{"@context":{"a":{"@id":"urn:a","@container":{}}}}')],
    ['the context every credential has', () => CREDENTIALS_V2],
    ["the platform's own", () => service.engines.config.contextUrl],
    ['the one of the other data model', () => 'https://www.w3.org/2018/credentials/v1'],
    ['no address', () => 'context'],
    ['a query', () => `${base}/good?x=1`],
  ])('refuses %s', async (_what, url) => {
    const requested = dids.requested.length;
    expect(await paramsOf(create([url()]))).toEqual(['contexts']);
    expect(dids.requested).toHaveLength(requested);
  });

  it('tries contexts with that of the status, which a revocable configuration of the data model 1.1 has too', async () => {
    const url = serve('/status-terms', '{"@context":{"RevocationList2020Status":"https://x.example/status"}}');
    const create11 = (more: object) =>
      call<WebSemanticConfiguration>(webSemanticConfigurations.create, {
        body: body({ proofType: 'Ed25519Signature2018', ...more }),
      });
    const { details } = await refusal(create11({ contexts: [url], revocable: true }));
    const msg = 'cannot be processed together as JSON-LD (protected term redefinition)';
    expect(details).toEqual([{ msg, param: 'contexts', location: 'body' }]);
    expect((await create11({ contexts: [url] })).revocable).toBe(false);
    const before = requests.length;
    const own = 'https://w3id.org/vc-revocation-list-2020/v1';
    expect(await create11({ contexts: [own], revocable: true })).toMatchObject({ contexts: [own], revocable: true });
    expect(requests).toHaveLength(before);
  });

  it('bounds all contexts of a configuration together, and names the limit', async () => {
    const half = (name: string) =>
      serve(name, JSON.stringify({ '@context': {}, pad: Array.from({ length: 12_000 }, () => 1) }));
    const refused = await create([half('/half-1'), half('/half-2')]).catch((error: AppError) => error);
    expect((refused as AppError).details).toEqual([
      { msg: 'must have at most 20000 JSON values in all contexts together', param: 'contexts', location: 'body' },
    ]);
    await create([half('/half-1')]);
  });
});

describe('users', () => {
  const claims = { given_name: 'Ada', address: { formatted: 'London' } };
  const create = (request: object = { claims }, tenant = ACME) => call<User>(createUser, { body: request }, tenant);
  const sealedOf = async (id: string): Promise<string> => {
    const [event] = await service.engines.events.readStream(userStream(ACME.id, id));
    return (event!.data as { sealedClaims: string }).sealedClaims;
  };
  const append = (sessionId: string, event: IssuanceSessionEvent) =>
    service.engines.streams.runDecision(
      issuanceSession,
      issuanceSessionStream(ACME.id, sessionId),
      () => [event],
      eventContext(context(createUser)),
    );
  const issue = (userId: string, credentialId: string, more: Partial<CredentialIssuedData> = {}) =>
    append(credentialId, {
      type: 'CredentialIssued',
      data: {
        credentialId,
        answerId: credentialId,
        sessionId: credentialId,
        offerId: credentialId,
        userId,
        issuer: 'http://acme.localhost',
        format: 'jwt_vc_json',
        profile: 'jwt-vc',
        credentialType: 'Membership',
        credentialConfigurationId: UNKNOWN_ID,
        holderKey: { kty: 'EC', crv: 'P-256' },
        issuedAt: clock.now().toISOString(),
        validFrom: clock.now().toISOString(),
        ...more,
      },
    });
  const users = () => service.get(UsersReadModel);

  it('are created, retrieved, listed and deleted', async () => {
    const created = await create();
    expect(created).toEqual({ id: expect.any(String), claims });
    const bare = await create({});
    expect(bare.claims).toEqual({});
    expect(await call(retrieveUser, { params: { id: created.id } })).toEqual(created);
    expect(await call(retrieveUser, { params: { id: bare.id } })).toEqual(bare);
    const { data } = await call<PageOf<User>>(listUsers, {});
    expect(data).toEqual(expect.arrayContaining([created, bare]));

    await call(deleteUser, { params: { id: created.id } });
    for (const operation of [retrieveUser, deleteUser])
      expect((await refusal(call(operation, { params: { id: created.id } }))).code).toBe('NotFound');
    expect((await call<PageOf<User>>(listUsers, {})).data.map(({ id }) => id)).not.toContain(created.id);
  });

  const update = (id: string, body: object, tenant = ACME) => call<User>(updateUser, { params: { id }, body }, tenant);

  it('have their claims replaced, in what is retrieved and listed', async () => {
    const created = await create();
    const bare = await create({});
    for (const { id } of [created, bare])
      for (const body of [{ claims: { given_name: 'Augusta', nested: { a: [1] } } }, { claims: {} }, { claims }, {}]) {
        const updated = { id, claims: body.claims ?? {} };
        expect(await update(id, body)).toEqual(updated);
        expect(await call(retrieveUser, { params: { id } })).toEqual(updated);
        expect((await call<PageOf<User>>(listUsers, {})).data).toContainEqual(updated);
      }
  });

  it('keep replaced claims sealed, old and new, and lose all of them when deleted', async () => {
    const { id } = await create({ claims: { secret: 'canary-1' } });
    await update(id, { claims: { secret: 'canary-2' } });
    const stored = await service.engines.events.readStream(userStream(ACME.id, id));
    expect(stored.map(({ type }) => type)).toEqual(['UserCreated', 'UserClaimsReplaced']);
    expect(JSON.stringify(stored)).not.toContain('canary');
    const sealed = stored.map(({ data }) => (data as { sealedClaims: string }).sealedClaims);
    const opened = () =>
      Promise.all(sealed.map((text) => service.engines.vault.sealing.openSealed(ACME.id, 'user', text)));
    expect(await opened()).toEqual(['{"secret":"canary-1"}', '{"secret":"canary-2"}']);
    await call(deleteUser, { params: { id } });
    expect(await opened()).toEqual([ERASED, ERASED]);
    expect((await refusal(update(id, { claims }))).code).toBe('NotFound');
  });

  it('are not updated with too many claims, nor when unknown or being deleted', async () => {
    const { id } = await create();
    const error = await refusal(update(id, { claims: { secret: 'canary'.repeat(66_000) } }));
    expect(error.details).toEqual([{ msg: 'must be at most 384 KiB of JSON', param: 'claims', location: 'body' }]);
    expect(await paramsOf(update(id, { claims: ['canary'] }))).toEqual(['claims']);
    expect(await paramsOf(update('no-uuid', { claims }))).toEqual(['id']);
    expect((await refusal(update(UNKNOWN_ID, { claims }))).code).toBe('NotFound');
    expect(await call(retrieveUser, { params: { id } })).toEqual({ id, claims });
    // Keys are destroyed before the event is written.
    await service.engines.vault.sealing.destroyDataKeys(ACME.id, [id]);
    expect((await refusal(update(id, { claims }))).code).toBe('NotFound');
    expect(await service.engines.events.readStream(userStream(ACME.id, id))).toHaveLength(1);
    await call(deleteUser, { params: { id } });
  });

  it('updated at the same time have the claims of one update', async () => {
    const { id } = await create();
    const wanted = Array.from({ length: 5 }, (_, n) => ({ n }));
    await Promise.all(wanted.map((own) => update(id, { claims: own })));
    const { claims: left } = await call<User>(retrieveUser, { params: { id } });
    expect(wanted).toContainEqual(left);
    expect(await service.engines.events.readStream(userStream(ACME.id, id))).toHaveLength(6);
  });

  it('belong to one tenant', async () => {
    const { id } = await create();
    expect((await refusal(update(id, { claims: {} }, BETA))).code).toBe('NotFound');
    for (const operation of [retrieveUser, deleteUser])
      expect((await refusal(call(operation, { params: { id } }, BETA))).code).toBe('NotFound');
    expect((await refusal(call(listUserCredentials, { params: { userId: id } }, BETA))).code).toBe('NotFound');
    expect(await call(listUsers, {}, BETA)).toEqual({ data: [] });
    expect(await call(retrieveUser, { params: { id } })).toMatchObject({ id });
  });

  it('are refused with too many claims or a provider, without repeating a value', async () => {
    const error = await refusal(create({ claims: { secret: 'canary'.repeat(66_000) } }));
    expect(error.details).toEqual([{ msg: 'must be at most 384 KiB of JSON', param: 'claims', location: 'body' }]);
    expect(await paramsOf(create({ authenticationProvider: { providerId: 'x' } }))).toEqual(['authenticationProvider']);
    const shape = await refusal(create({ claims: 'canary' }));
    expect(JSON.stringify(shape.details)).not.toContain('canary');
    expect(shape.details).toEqual([expect.objectContaining({ param: 'claims' })]);
  });

  it('have no claim stored in plain text, and none readable after deletion', async () => {
    const { id } = await create({ claims: { secret: 'canary-4711' } });
    const sealed = await sealedOf(id);
    expect(sealed).not.toContain('canary');
    expect(JSON.parse((await service.engines.vault.sealing.openSealed(ACME.id, 'user', sealed)) as string)).toEqual({
      secret: 'canary-4711',
    });
    // A session of the user has claims under a separate key.
    const sessionId = '33333333-3333-4333-8333-333333333333';
    const held = service.engines.vault.sealing.storeWithNewKey(
      ACME.id,
      'session',
      sessionId,
      '{"secret":"canary-4712"}',
    );
    await held.newKey.store();
    await append(sessionId, {
      type: 'PreAuthorizedOfferCreated',
      data: {
        sessionId,
        origin: { kind: 'preAuthorizedOffer', sealedDocument: 'x' },
        issuer: 'http://acme.localhost',
        binding: 'none',
        userId: id,
        entries: [],
        code: {
          tokenId: UNKNOWN_ID,
          kind: 'preAuthorizedCode',
          mac: 'x',
          keyId: 'x',
          expiresAt: clock.now().toISOString(),
        },
        storedClaims: held.stored,
        createdAt: clock.now().toISOString(),
      },
    });

    await call(deleteUser, { params: { id } });
    expect(await service.engines.vault.sealing.openSealed(ACME.id, 'user', sealed)).toEqual(ERASED);
    expect(await service.engines.vault.sealing.openStored(ACME.id, 'session', held.stored)).toEqual(ERASED);
    const { state } = await service.engines.streams.load(user, userStream(ACME.id, id));
    expect(state).toEqual({ status: 'deleted' });
  });

  it('do not exist once their key is destroyed, even before the event', async () => {
    const { id } = await create();
    await service.engines.vault.sealing.destroyDataKeys(ACME.id, [id]);
    expect((await refusal(call(retrieveUser, { params: { id } }))).code).toBe('NotFound');
    expect((await call<PageOf<User>>(listUsers, {})).data.map((entry) => entry.id)).not.toContain(id);
    await call(deleteUser, { params: { id } });
  });

  it('list the metadata of their credentials, oldest first, until they are deleted', async () => {
    const facts: FeedMessage[] = [];
    const consumer = service.engines.bus.consume(
      { name: 'test.facts', subjects: [credentialIssued.subject, userDeleted.subject], start: 'new' },
      async (messages) => void facts.push(...messages),
    );
    const { id: userId } = await create();
    const other = await create();
    const ids = [1, 2, 3].map((n) => `44444444-4444-4444-8444-44444444444${n}`);
    for (const credentialId of ids) {
      clock.time += 1000;
      await issue(userId, credentialId, { validUntil: '2030-01-01T00:00:00.000Z' });
    }
    await users().running.waitForHead(10_000);
    const first = await call<PageOf<UserCredential>>(listUserCredentials, {
      params: { userId },
      query: { limit: '2' },
    });
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(first.data[0]).toEqual({
      id: ids[0],
      type: 'Membership',
      profile: 'jwt-vc',
      format: 'jwt_vc_json',
      sessionId: ids[0],
      credentialConfigurationId: UNKNOWN_ID,
      devicePublicKey: { kty: 'EC', crv: 'P-256' },
      issuedDate: expect.any(String),
      validFrom: expect.any(String),
      validUntil: '2030-01-01T00:00:00.000Z',
      offerId: ids[0],
    });
    const query = { cursor: first.nextCursor };
    const second = await call<PageOf<UserCredential>>(listUserCredentials, { params: { userId }, query });
    expect(second.data.map(({ id }) => id)).toEqual([ids[2]]);
    expect(second).not.toHaveProperty('nextCursor');
    expect(await paramsOf(call(listUserCredentials, { params: { userId: other.id }, query }))).toEqual(['cursor']);
    expect(await call(listUserCredentials, { params: { userId: other.id } })).toEqual({ data: [] });
    expect((await refusal(call(listUserCredentials, { params: { userId: UNKNOWN_ID } }))).code).toBe('NotFound');

    await call(deleteUser, { params: { id: userId } });
    expect((await refusal(call(listUserCredentials, { params: { userId } }))).code).toBe('NotFound');
    // One that was in progress when the user was deleted leaves no row.
    await issue(userId, '44444444-4444-4444-8444-444444444449');
    const rowsOf = () =>
      users().running.db.selectFrom('issuance_credentials').select('id').where('user_id', '=', userId).execute();
    await users().running.waitForHead(10_000);
    expect(await rowsOf()).toEqual([]);
    await users().running.rebuild();
    expect(await rowsOf()).toEqual([]);
    expect((await call<PageOf<User>>(listUsers, {})).data.map(({ id }) => id)).not.toContain(userId);

    const ofUser = () => facts.filter(({ data }) => (data as { userId: string }).userId === userId);
    await until(() => ofUser().length >= 5);
    const mine = ofUser();
    expect(mine.map(({ subject }) => subject)).toEqual([
      ...ids.map(() => credentialIssued.subject),
      userDeleted.subject,
      credentialIssued.subject,
    ]);
    expect(mine[0]!.data).toEqual({
      tenantId: ACME.id,
      issuer: 'http://acme.localhost',
      credentialId: ids[0],
      format: 'jwt_vc_json',
      profile: 'jwt-vc',
      credentialConfigurationId: UNKNOWN_ID,
      userId,
      sessionId: ids[0],
      issuedAt: expect.any(String),
    });
    const [stored] = await service.engines.events.readStream(issuanceSessionStream(ACME.id, ids[0]!));
    expect(mine[0]!.id).toBe(stored!.id);
    await consumer.close();
  });

  it('rebuild to the same lists', async () => {
    const before = [await call(listUsers, {}), await call(webSemanticConfigurations.list, {})];
    await users().running.rebuild();
    await service.get(ConfigurationsReadModel).running.rebuild();
    expect([await call(listUsers, {}), await call(webSemanticConfigurations.list, {})]).toEqual(before);
  });

  it('remain erased when an older key store is restored', async () => {
    const { id } = await create({ claims: { secret: 'canary-4713' } });
    const kept = await create({ claims: { a: 1 } });
    const sealed = await sealedOf(id);
    await close();
    const backup = await mkdtemp(join(tmpdir(), 'issuance-backup-'));
    await cp(join(service.folder, 'events.db'), join(backup, 'events.db'));

    await open();
    await call(deleteUser, { params: { id } });
    await close();

    restoreKeys(join(service.folder, 'events.db'), join(backup, 'events.db'));
    await rm(backup, { recursive: true });
    await open();
    expect(await service.engines.vault.sealing.openSealed(ACME.id, 'user', sealed)).toEqual(ERASED);
    expect(await call(retrieveUser, { params: { id: kept.id } })).toEqual(kept);
  });
});
