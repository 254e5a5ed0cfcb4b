import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  AppError,
  bodyLimitOf,
  createClient,
  createDid,
  createTenant,
  deleteClient,
  HTTP_STATUS,
  issueToken,
  listDids,
  listTenants,
  lookUpManagementClient,
  lookUpTenant,
  OPERATIONS,
  retrieveIacas,
  retrieveTokenKeys,
  type DirectoryTenant,
  type ErrorKind,
  type Operation,
} from '@attestry/contracts';
import type { Reply, Serving } from '@attestry/messaging';
import { createNestLogger, Metrics, rootModule } from '@attestry/service-kit';
import { EnginesUnderTest } from '@attestry/testing/services';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { SignJWT } from 'jose';
import { TokenVerifier } from '../auth/token-verifier.js';
import { gatewayParticipant } from '../gateway.module.js';
import { Pipeline } from '../pipeline/mount.js';

const TENANT = '11111111-1111-4111-8111-111111111111';
const LIMITED = '22222222-2222-4222-8222-222222222222';
const HOSTS = {
  tenant: 'acme.example.test',
  limited: 'limited.example.test',
  management: 'management.example.test',
  auth: 'auth.example.test',
};
const ISSUER = `http://${HOSTS.auth}`;
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const service = new EnginesUnderTest({
  settings: {
    BASE_DOMAIN: 'example.test',
    OPERATION_TIMEOUT_MS: '1500',
    RATE_LIMIT_CLIENT_TOKEN: '20',
    RATE_LIMIT_PUBLIC: '100',
    TRUSTED_PROXIES: '127.0.0.1',
    RATE_LIMIT_TENANTS: JSON.stringify({ [LIMITED]: { api: 2 } }),
  },
});
let app: NestFastifyApplication;
let server: FastifyInstance;
const peers: Serving[] = [];
/** Look-ups of tenants at management. */
let lookUps = 0;
/** Reply of the service behind an operation; a test sets it. */
let reply: () => Promise<Reply> = async () => ({ ok: true, data: { data: [] } });

const serve = (operation: { subject: string }, answer: (data: { body: never }) => Promise<Reply>) =>
  peers.push(service.engines.bus.serve(operation.subject, (data) => answer(data as never)));

/** Ids of clients are unique over all tenants. */
const tenants: Record<string, DirectoryTenant> = Object.fromEntries(
  [
    { host: HOSTS.tenant, tenantId: TENANT, prefix: '' },
    { host: HOSTS.limited, tenantId: LIMITED, prefix: 'limited-' },
  ].map(({ host, tenantId, prefix }) => [
    host,
    {
      tenantId,
      environmentId: TENANT,
      host,
      restrictIdentityRoles: false,
      clients: [
        { clientId: `${prefix}issuer`, roles: ['issuer'] },
        { clientId: `${prefix}holder`, roles: ['holder'] },
      ],
    },
  ]),
);

beforeAll(async () => {
  await service.open();
  serve(lookUpTenant, async ({ body }) => {
    lookUps++;
    const { host } = body as { host: string };
    const tenant = tenants[host];
    if (host === 'deleted.example.test') return { ok: true, data: { ended: { tenantId: TENANT, isPurged: false } } };
    if (host === 'purged.example.test') return { ok: true, data: { ended: { tenantId: TENANT, isPurged: true } } };
    return { ok: true, data: tenant ? { tenant } : {} };
  });
  serve(lookUpManagementClient, async () => ({ ok: true, data: { exists: true } }));
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256', use: 'sig' };
  serve(retrieveTokenKeys, async () => ({ ok: true, data: { keys: [jwk] } }));
  for (const operation of [listDids, listTenants, issueToken, retrieveIacas]) serve(operation, () => reply());
  app = await NestFactory.create<NestFastifyApplication>(
    rootModule([gatewayParticipant], service.engines),
    new FastifyAdapter(),
    {
      bodyParser: false,
      logger: createNestLogger(service.engines.logger),
      abortOnError: false,
    },
  );
  server = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  app.get(Pipeline).mount(server);
  await app.init();
}, 60_000);
afterAll(async () => {
  await app?.close();
  await Promise.all(peers.map((peer) => peer.close()));
  await service.remove();
});
beforeEach(() => {
  reply = async () => ({ ok: true, data: { data: [] } });
});

const token = (clientId: string, host: string) =>
  new SignJWT({ client_id: clientId })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' })
    .setIssuer(ISSUER)
    .setAudience(`http://${host}`)
    .setExpirationTime('1h')
    .sign(privateKey);

interface Api {
  errors: Operation['errors'];
  host: string;
  /** A call that the service answers with `reply`. */
  right: Pick<InjectOptions, 'method' | 'url' | 'payload'>;
  /** Takes a JSON body. */
  post: string;
  client?: string;
}
const json = { 'content-type': 'application/json' };
const TOKEN_CALL = {
  client_id: 'x',
  client_secret: 'y',
  audience: `http://${HOSTS.tenant}`,
  grant_type: 'client_credentials',
};
const APIS: [string, Api][] = [
  [
    'tenant',
    {
      errors: 'tenant',
      host: HOSTS.tenant,
      right: { method: 'GET', url: listDids.http!.path },
      post: createDid.http!.path,
      client: 'issuer',
    },
  ],
  [
    'management',
    {
      errors: 'management',
      host: HOSTS.management,
      right: { method: 'GET', url: listTenants.http!.path },
      post: createTenant.http!.path,
      client: 'm1',
    },
  ],
  [
    'OAuth',
    {
      errors: 'oauth',
      host: HOSTS.auth,
      right: { method: 'POST', url: issueToken.http!.path, payload: TOKEN_CALL },
      post: issueToken.http!.path,
    },
  ],
];

const send = async (api: Api, options: InjectOptions, client: string | null | undefined = api.client) => {
  const headers: Record<string, string> = { host: api.host, ...(options.headers as Record<string, string>) };
  if (options.payload !== undefined && !headers['content-type']) headers['content-type'] = 'application/json';
  if (client) headers['authorization'] = `Bearer ${await token(client, api.host)}`;
  return server.inject({ ...options, headers });
};
type Answer = Awaited<ReturnType<typeof send>>;

/** The error bodies, written out independently of the code (specification notes, Errors). */
const expectBody = (errors: Operation['errors'], answer: Answer, code?: string) => {
  const { statusCode, headers } = answer;
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    expect(String(headers[name])).toMatch(/^\d+$/);
  expect(headers['x-request-id']).toMatch(/^[0-9A-Za-z]{22}$/);
  expect(headers['cache-control']).toBe('no-store');
  if (errors === 'tenant' && statusCode === 401) expect(headers['www-authenticate']).toMatch(/^Bearer/);
  expect(headers['content-type']).toMatch(/^application\/json/);
  const body = answer.json<Record<string, unknown>>();
  if (errors === 'oauth') {
    expect(body).toMatchObject({ error: expect.stringMatching(/^[a-z_]+$/), error_description: expect.any(String) });
    return;
  }
  expect(body['code']).toBe(code);
  expect(body['message']).toEqual(expect.any(String));
  if (errors === 'management')
    expect(body).toEqual({
      code,
      type: expect.stringMatching(/Error$/),
      message: body['message'],
      details: expect.any(Array),
    });
  else expect(Object.keys(body).sort()).toEqual(['code', ...('details' in body ? ['details'] : []), 'message']);
};

const CODES: Partial<Record<ErrorKind, string>> = {
  invalid: 'BadRequest',
  unauthenticated: 'Unauthorized',
  forbidden: 'Forbidden',
  notFound: 'NotFound',
  notAcceptable: 'NotAcceptable',
  conflict: 'Conflict',
  gone: 'Gone',
  unprocessable: 'UnprocessableContent',
  tooLarge: 'PayloadTooLarge',
  unsupportedMediaType: 'UnsupportedMediaType',
  internal: 'InternalError',
  notImplemented: 'NotImplemented',
  unavailable: 'ServiceUnavailable',
};

describe.each(APIS)('errors of the %s API', (_name, api) => {
  const limit = bodyLimitOf(OPERATIONS.find(({ http }) => http?.method === 'POST' && http.path === api.post)!.http!);
  const expectTooLarge = (answer: Answer) => {
    expect(answer.statusCode).toBe(413);
    expectBody(api.errors, answer, 'PayloadTooLarge');
    const body = answer.json<{ message?: string; error_description?: string }>();
    const message = `Payload Too Large: the body must have at most ${limit} bytes`;
    expect(body.message ?? body.error_description).toBe(message);
  };

  it.each(Object.entries(CODES) as [ErrorKind, string][])('returned by a service: %s', async (kind, code) => {
    const headers: Record<string, string> = kind === 'unauthenticated' ? { 'www-authenticate': 'Bearer' } : {};
    const error = new AppError(
      kind,
      kind === 'unauthenticated' ? 'Unauthorized' : kind === 'forbidden' ? 'Forbidden' : 'Told',
      {
        headers,
        cause: new Error('canary of a cause'),
      },
    );
    reply = async () => ({ ok: false, error: error.toWire() });
    const answer = await send(api, api.right);
    expect(answer.statusCode).toBe(HTTP_STATUS[kind]);
    expectBody(api.errors, answer, code);
    expect(answer.payload).not.toContain('canary');
  });

  it('500: a service fails, without the reason [M53]', async () => {
    reply = () => Promise.reject(new Error('canary of a service'));
    const answer = await send(api, api.right);
    expect(answer.statusCode).toBe(500);
    expectBody(api.errors, answer, 'InternalError');
    expect(answer.payload).not.toContain('canary');
  });

  it('400: a body that is not JSON', async () => {
    const answer = await send(api, { method: 'POST', url: api.post, payload: '{', headers: json });
    expect(answer.statusCode).toBe(400);
    expectBody(api.errors, answer, 'BadRequest');
  });

  it('404: a path without an operation', async () => {
    const answer = await send(api, { method: 'GET', url: '/v9/nothing' });
    expect(answer.statusCode).toBe(404);
    // There is no operation to define the error shape, so the host does.
    expectBody(api.errors === 'management' ? 'management' : 'tenant', answer, 'NotFound');
  });

  it('405: with the methods of the path', async () => {
    const answer = await send(api, { method: 'PATCH', url: api.post });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers['allow']).toContain('POST');
    expectBody(api.errors === 'management' ? 'management' : 'tenant', answer, 'MethodNotAllowed');
  });

  it('413: over 1 MiB', async () => {
    const payload = JSON.stringify({ text: 'x'.repeat(1_048_576) });
    const answer = await send(api, { method: 'POST', url: api.post, payload, headers: json });
    expectTooLarge(answer);
  });

  it('413: longer than the operation allows, before it has arrived completely [T652]', async () => {
    let read = 0;
    const endless = Readable.from(
      (async function* () {
        for (; read <= limit; read += 1024) yield Buffer.alloc(1024, 'x');
        await new Promise(() => undefined);
      })(),
    );
    const chunked = await send(api, { method: 'POST', url: api.post, payload: endless, headers: json });
    expect([chunked.statusCode, read]).toEqual([413, limit + 1024]);
    expectTooLarge(chunked);
    // No part of it is sent.
    const silent = Readable.from(
      (async function* () {
        await new Promise(() => undefined);
        yield Buffer.alloc(0);
      })(),
    );
    const headers = { ...json, 'content-length': String(limit + 1) };
    const announced = await send(api, { method: 'POST', url: api.post, payload: silent, headers });
    expectTooLarge(announced);
  });

  it('415: another media type', async () => {
    const answer = await send(api, {
      method: 'POST',
      url: api.post,
      payload: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.statusCode).toBe(415);
    expectBody(api.errors, answer, 'UnsupportedMediaType');
  });
});

describe('a deleted tenant', () => {
  const { path } = retrieveIacas.http!;
  const call = (host: string, method: 'GET' | 'HEAD' | 'PUT' | 'OPTIONS', url = path) =>
    send({ ...(APIS[0]![1] as Api), host }, { method, url }, null);

  it('serves what verifiers need, and nothing else [T194]', async () => {
    reply = async () => ({ ok: true, data: { iacas: [] } });
    const answer = await call('deleted.example.test', 'GET');
    expect([answer.statusCode, answer.json()]).toEqual([200, { iacas: [] }]);
    expect((await call('deleted.example.test', 'HEAD')).statusCode).toBe(200);
    for (const [method, url] of [
      ['GET', listDids.http!.path],
      ['PUT', path],
      ['GET', '/'],
      ['GET', '/.well-known/openid-credential-issuer'],
    ] as const) {
      const refused = await call('deleted.example.test', method, url);
      expect([url, refused.statusCode]).toEqual([url, 404]);
      expectBody('tenant', refused, 'NotFound');
    }
    const own = await send(
      { ...(APIS[0]![1] as Api), host: 'deleted.example.test' },
      { method: 'GET', url: '/v1/dids' },
    );
    expect(own.statusCode).toBe(404);
  });

  it('answers 410 for it once it is purged [T195]', async () => {
    const answer = await call('purged.example.test', 'GET');
    expect(answer.statusCode).toBe(410);
    expectBody('tenant', answer, 'Gone');
    expect(answer.json()).toEqual({ code: 'Gone', message: 'Gone: the tenant was deleted, and its data was erased' });
    expect((await call('purged.example.test', 'HEAD')).statusCode).toBe(410);
    expect((await call('purged.example.test', 'GET', listDids.http!.path)).statusCode).toBe(404);
  });
});

describe('errors of callers', () => {
  const [[, tenant], [, management], [, oauth]] = APIS as [[string, Api], [string, Api], [string, Api]];

  it.each([
    ['tenant', tenant],
    ['management', management],
  ])('401 on the %s API: no token, a malformed one, one for another audience [T647]', async (_name, api) => {
    const other = { ...api, host: api === tenant ? HOSTS.management : HOSTS.tenant };
    const elsewhere = `Bearer ${await token(api.client!, other.host)}`;
    for (const headers of [{}, { authorization: 'Bearer x' }, { authorization: elsewhere }]) {
      const answer = await send(api, { ...api.right, headers }, null);
      expect(answer.statusCode).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
      expectBody(api.errors, answer, 'Unauthorized');
      const reason = /error_description="([^"]+)"/.exec(String(answer.headers['www-authenticate']))?.[1];
      expect(answer.json<{ message: string }>().message).toBe(reason ?? 'The request has no access token');
    }
  });

  it('401 for a token in a non-canonical spelling; the scheme is case-insensitive', async () => {
    const right = await token('issuer', HOSTS.tenant);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const respelt = right.slice(0, -1) + alphabet[alphabet.indexOf(right.at(-1)!) ^ 1]!;
    const call = async (authorization: string) =>
      (await send(tenant, { ...tenant.right, headers: { authorization } }, null)).statusCode;
    expect(await call(`bEaReR ${right}`)).toBe(200);
    for (const wrong of [respelt, `${right}==`, right.toLowerCase()]) expect(await call(`Bearer ${wrong}`)).toBe(401);
  });

  it('403 on the tenant API: a role without the permission', async () => {
    const answer = await send(tenant, tenant.right, 'holder');
    expect(answer.statusCode).toBe(403);
    expectBody('tenant', answer, 'Forbidden');
    expect(answer.json<{ message: string }>().message).toMatch(/^The client needs one of these roles: admin, issuer/);
  });

  it.each([
    ['tenant', tenant, createDid],
    ['management', management, createTenant],
  ] as [string, Api, Operation][])('503 on the %s API: the operation has no responder', async (_name, api) => {
    const payload =
      api === tenant ? { method: 'key', options: { keyType: 'Ed25519' } } : { subdomain: 'abc', environmentId: TENANT };
    const answer = await send(api, { method: 'POST', url: api.post, payload });
    expect(answer.statusCode).toBe(503);
    expectBody(api.errors, answer, 'ServiceUnavailable');
  });

  it.each([
    [createTenant, { subdomain: 'abc', environmentId: TENANT }],
    [createClient, { name: 'x', roles: ['issuer'] }],
    [deleteClient, undefined],
  ] as [Operation, object | undefined][])('503 while no service serves $name [M54]', async (operation, payload) => {
    const { method, path } = operation.http!;
    const url = path.replace(':tenantId', TENANT).replace(':clientId', 'a'.repeat(32));
    const answer = await send(management, { method, url, ...(payload && { payload }) });
    expect(answer.statusCode).toBe(503);
    expectBody('management', answer, 'ServiceUnavailable');
    expect(operation.errorStatuses).toContain(503);
  });

  it("429: only at the tenant's limit, with Retry-After, and counted per client", async () => {
    const limited: Api = { ...tenant, host: HOSTS.limited, client: 'limited-issuer' };
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await send(limited, limited.right)).statusCode);
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await send(limited, limited.right);
    expectBody('tenant', refused, 'TooManyRequests');
    expect(refused.headers['x-ratelimit-limit']).toBe('2');
    expect(refused.headers['x-ratelimit-remaining']).toBe('0');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const waits = Number(refused.headers['x-ratelimit-reset']) - Date.now() / 1000;
    expect(waits).toBeLessThanOrEqual(61);
    expect(Math.abs(Number(refused.headers['retry-after']) - waits)).toBeLessThan(2);
    // Its other client, and another tenant, have separate limits.
    expect((await send(limited, limited.right, 'limited-holder')).statusCode).toBe(403);
    const free = await send(tenant, tenant.right, 'holder');
    expect([free.statusCode, free.headers['x-ratelimit-limit']]).toEqual([403, '3000']);
  });

  const wrongSecret = async (): Promise<Reply> => ({
    ok: false,
    error: new AppError('unauthenticated', 'Unauthorized', { code: 'access_denied' }).toWire(),
  });
  /** A token call from an address, as a trusted proxy forwards it. */
  const tokenCall = (address: string, body: object = {}) =>
    send(oauth, { ...oauth.right, payload: { ...TOKEN_CALL, ...body }, headers: { 'x-forwarded-for': address } });
  const statusesOf = async (n: number, call: () => Promise<Answer>) => {
    const statuses: number[] = [];
    for (let i = 0; i < n; i++) statuses.push((await call()).statusCode);
    return [...new Set(statuses)];
  };

  it('429 on the OAuth API: failures of an address, before the body is read, with `message`', async () => {
    const address = '198.51.100.1';
    reply = wrongSecret;
    expect(await statusesOf(20, () => tokenCall(address))).toEqual([401]);
    reply = () => Promise.reject(new Error('must not be called'));
    const answer = await send(oauth, {
      method: 'POST',
      url: oauth.post,
      payload: '{',
      headers: { ...json, 'x-forwarded-for': address },
    });
    expect(answer.statusCode).toBe(429);
    expectBody('oauth', answer);
    expect(answer.json()).toMatchObject({ message: 'Too Many Requests' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect([answer.headers['x-ratelimit-limit'], answer.headers['x-ratelimit-remaining']]).toEqual(['20', '0']);
  });

  it('429 on the OAuth API: wrong secrets never lock the client out at another address', async () => {
    reply = wrongSecret;
    for (const [from, to] of [
      [10, 15],
      [20, 25],
    ] as const)
      for (let n = from; n < to; n++)
        expect(await statusesOf(20, () => tokenCall(`198.51.100.${n}`, { client_id: 'victim' }))).toEqual([401]);
    reply = async () => ({ ok: true, data: {} });
    expect((await tokenCall('198.51.100.99', { client_id: 'victim' })).statusCode).toBe(200);
  });

  it.each([
    ['400', { payload: '{' }, 400],
    ['413', { payload: JSON.stringify({ text: 'x'.repeat(1_048_576) }) }, 413],
    ['415', { payload: 'x', headers: { 'content-type': 'text/plain' } }, 415],
  ] as [string, Pick<InjectOptions, 'payload'> & { headers?: object }, number][])(
    '429 on the OAuth API: after 20 responses with status %s',
    async (_name, { headers, ...options }, status) => {
      const address = `198.51.101.${status - 390}`;
      const call = () =>
        send(oauth, {
          method: 'POST',
          url: oauth.post,
          ...options,
          headers: { ...json, ...headers, 'x-forwarded-for': address },
        });
      expect(await statusesOf(20, call)).toEqual([status]);
      expect((await call()).statusCode).toBe(429);
    },
  );

  it('429 on the OAuth API: a /64 of IPv6 after 20 failures, its /48 after 100', async () => {
    reply = wrongSecret;
    expect(await statusesOf(20, () => tokenCall('2001:db8:1:1::1'))).toEqual([401]);
    expect((await tokenCall('2001:db8:1:1::2')).statusCode).toBe(429);
    for (const subnet of [2, 3, 4, 5])
      expect(await statusesOf(20, () => tokenCall(`2001:db8:1:${subnet}::1`))).toEqual([401]);
    const refused = await tokenCall('2001:db8:1:6::1');
    expect([refused.statusCode, refused.headers['x-ratelimit-limit']]).toEqual([429, '100']);
    expect((await tokenCall('2001:db8:2:1::1')).statusCode).toBe(401);
  });

  it('429 on the OAuth API: too many calls of one client with the right secret, counted only for that client', async () => {
    reply = async () => ({ ok: true, data: {} });
    expect(await statusesOf(20, () => tokenCall('198.51.102.1', { client_id: 'busy' }))).toEqual([200]);
    const refused = await tokenCall('198.51.102.1', { client_id: 'busy' });
    expect([refused.statusCode, refused.headers['x-ratelimit-remaining']]).toEqual([429, '0']);
    const other = await tokenCall('198.51.102.1', { client_id: 'other' });
    expect([other.statusCode, other.headers['x-ratelimit-remaining']]).toEqual([200, '19']);
  });

  it('429 for an address over its public limit, before a host is looked up or a token is verified', async () => {
    const headers = { 'x-forwarded-for': '198.51.103.1' };
    // Remembered: a call of a client with its own limit is served.
    const authorization = `Bearer ${await token('issuer', HOSTS.tenant)}`;
    const known = () => server.inject({ ...tenant.right, headers: { ...headers, authorization, host: HOSTS.tenant } });
    expect((await known()).statusCode).toBe(200);
    const unknownPath = () => server.inject({ url: '/none', headers: { ...headers, host: HOSTS.tenant } });
    expect(await statusesOf(100, unknownPath)).toEqual([404]);
    const before = lookUps;
    let checks = 0;
    const verifier = app.get(TokenVerifier) as unknown as {
      checkToken?: (...all: unknown[]) => Promise<unknown>;
    };
    const { checkToken } = verifier;
    verifier.checkToken = (...all) => {
      checks++;
      return checkToken!.apply(verifier, all);
    };
    for (let n = 0; n < 5; n++) {
      const url = tenant.right.url!;
      const refused = await server.inject({ url, headers: { ...headers, host: `cold-${n}.example.test` } });
      expectBody('tenant', refused, 'TooManyRequests');
      expect(refused.statusCode).toBe(429);
      expect([refused.headers['x-ratelimit-limit'], refused.headers['x-ratelimit-remaining']]).toEqual(['100', '0']);
      expect((await send(tenant, { ...tenant.right, headers }, 'holder')).statusCode).toBe(429);
      expect((await known()).statusCode).toBe(200);
    }
    expect(lookUps).toBe(before);
    expect(checks).toBe(0);
    // From another address both are served.
    expect((await send(tenant, tenant.right, 'holder')).statusCode).not.toBe(429);
    expect((await server.inject({ url: '/none', headers: { host: 'cold-9.example.test' } })).statusCode).toBe(404);
    expect(lookUps).toBe(before + 1);
    expect(checks).toBe(1);
    delete verifier.checkToken;
  });

  it('counts failed token calls by status in the metrics', async () => {
    const counted = async () => {
      const { values } = await app.get(Metrics).counter('clientTokenFailures').get();
      return values.find(({ labels }) => labels['status'] === '401')?.value ?? 0;
    };
    const before = await counted();
    reply = wrongSecret;
    await tokenCall('198.51.103.1');
    expect(await counted()).toBe(before + 1);
  });
});
