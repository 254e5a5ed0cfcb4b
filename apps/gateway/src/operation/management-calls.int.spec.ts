import { generateKeyPairSync } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  lookUpManagementClient,
  notFound,
  recordSubject,
  PLATFORM_TENANT,
  OPERATIONS,
  retrieveTokenKeys,
  type Operation,
  type OperationRecordMessage,
} from '@attestry/contracts';
import type { Headers, Reply, Serving } from '@attestry/messaging';
import { createNestLogger, rootModule } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { EnginesUnderTest } from '@attestry/testing/services';
import type { FastifyInstance } from 'fastify';
import { SignJWT } from 'jose';
import { Pipeline } from '../pipeline/mount.js';
import { gatewayParticipant } from '../gateway.module.js';

const MANAGEMENT = 'management.example.test';
const ID = '11111111-1111-4111-8111-111111111111';
const LIMIT = 200;
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const service = new EnginesUnderTest({
  settings: {
    BASE_DOMAIN: 'example.test',
    RATE_LIMIT_API: String(LIMIT),
  },
  subjects: [recordSubject('record', 'gateway')],
});
let app: NestFastifyApplication;
let server: FastifyInstance;
const peers: Serving[] = [];
/** Context headers of the newest call of a service. */
let headers: Headers = {};
let reply: () => Promise<Reply>;
const received = () => service.messages.map(({ data }) => data as OperationRecordMessage);

const operations = OPERATIONS.filter(({ http, access }) => http && access.kind === 'management');

beforeAll(async () => {
  await service.open();
  const serve = (operation: Operation, answer: () => Promise<Reply>) =>
    peers.push(
      service.engines.bus.serve(operation.subject, (_data, sent) => {
        if (sent['operation'] === operation.name) headers = sent;
        return answer();
      }),
    );
  serve(lookUpManagementClient as Operation, async () => ({ ok: true, data: { exists: true } }));
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256', use: 'sig' };
  serve(retrieveTokenKeys as Operation, async () => ({ ok: true, data: { keys: [jwk] } }));
  for (const operation of operations) serve(operation, () => reply());
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

/** Bodies by operation; other operations have none. */
const BODIES: Record<string, object> = {
  'management.create-tenant': { subdomain: 'acme', environmentId: ID },
  'management.update-tenant': { name: 'Acme' },
  'management.create-client': { name: 'x', roles: ['issuer'] },
  'management.update-client': { name: 'x', roles: ['issuer'] },
  'management.rotate-client-secret': { overlapSeconds: 0 },
  'management.update-user-information': { name: 'Ada' },
  'management.invite-member': { email: 'ada@people.example', roles: ['issuer'] },
  'management.update-membership': { roles: ['issuer'] },
  'management.accept-invitation': { token: 'x' },
};

const send = async ({ name, http }: Operation, clientId: string) => {
  const token = await new SignJWT({ client_id: clientId })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' })
    .setIssuer('http://auth.example.test')
    .setAudience(`http://${MANAGEMENT}`)
    .setExpirationTime('1h')
    .sign(privateKey);
  const url = http!.path.replace(':clientId', 'a'.repeat(32)).replaceAll(/:(?:tenant|user)Id/g, ID);
  const payload = BODIES[name];
  return server.inject({
    method: http!.method,
    url,
    headers: {
      host: MANAGEMENT,
      authorization: `Bearer ${token}`,
      ...(payload && { 'content-type': 'application/json' }),
    },
    ...(payload && { payload }),
  });
};
/** The record that the gateway sent of a request. */
const recordOf = async (requestId: string): Promise<OperationRecordMessage> => {
  await service.engines.recorders.flush(10_000);
  return waitUntil(() => received().find((message) => message.requestId === requestId));
};

/** Written down once more, as the specification lists them. */
const STATED =
  `ENVIRONMENT_RETRIEVE_LIST TENANT_RETRIEVE_LIST TENANT_CREATE TENANT_RETRIEVE TENANT_DELETE TENANT_CLIENT_RETRIEVE_LIST
  TENANT_CLIENT_CREATE TENANT_CLIENT_DELETE USER_USERINFO_RETRIEVE USER_USERINFO_UPDATE TENANT_MEMBER_INVITATION_CREATE
  TENANT_MEMBER_RETRIEVE_LIST TENANT_MEMBER_RETRIEVE TENANT_MEMBERSHIP_UPDATE TENANT_MEMBERSHIP_DELETE`.split(/\s+/);

describe('each operation of the management API', () => {
  it('has a prefix, and the specified ones are among them [M47, M48]', () => {
    expect(operations.map(({ analytics }) => analytics?.prefix)).toEqual(expect.arrayContaining(STATED));
    for (const { analytics } of operations) expect(analytics?.prefix).toMatch(/^[A-Z_]+$/);
  });

  it.each(operations)('records its calls: $name [M47, M48]', async (operation) => {
    const { prefix, category, tenantFrom } = operation.analytics!;
    const clientId = `caller-${operation.name}`;
    const expected = { prefix, category, clientId, tenantId: PLATFORM_TENANT, isManagement: true };
    const isQuery = operation.kind === 'query';
    reply = async () => ({ ok: true, data: { id: ID, ...(isQuery && { data: [] }) } });
    const answer = await send(operation, clientId);
    expect(answer.statusCode).toBe(operation.http!.success);
    // The service puts the record of a command into the event that it appends.
    const begun = isQuery ? undefined : { startedAt: expect.stringMatching(/Z$/) as string };
    expect(headers['record'] && JSON.parse(headers['record'])).toEqual(begun);

    reply = async () => ({ ok: false, error: notFound().toWire() });
    const refused = await send(operation, clientId);
    expect(refused.statusCode).toBe(404);
    const failed = await recordOf(String(refused.headers['x-request-id']));
    expect(failed).toMatchObject({ ...expected, outcome: 'FAIL', metadata: { error: { status: 404 } } });
    expect(failed.about).toBeUndefined();

    const requestId = String(answer.headers['x-request-id']);
    const all = received().filter((message) => message.requestId === requestId);
    const [access = [], succeeded = []] = [true, false].map((isAccess) =>
      all.filter((message) => (message.category === 'access') === isAccess),
    );
    // A read of a tenant's trail is in its access events, too.
    const readsTrail = operation.name === 'management.list-tenant-events';
    const { isManagement: _, ...byClient } = { ...expected, prefix: 'EVENT_RETRIEVE_LIST', category: 'access' };
    expect(access).toEqual(readsTrail ? [expect.objectContaining({ ...byClient, tenantId: ID })] : []);
    if (!isQuery) return expect(succeeded).toEqual([]);
    expect(succeeded).toEqual([expect.objectContaining({ ...expected, outcome: 'SUCCESS' })]);
    expect(succeeded[0]!.about).toBe(tenantFrom && ID);
  });

  it('is rate-limited: 429 with Retry-After, per client', async () => {
    reply = async () => ({ ok: true, data: { data: [] } });
    const list = operations.find(({ name }) => name === 'management.list-tenants')!;
    const statuses: number[] = [];
    for (let n = 0; n < LIMIT; n++) statuses.push((await send(list, 'busy')).statusCode);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const refused = await send(list, 'busy');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toEqual({
      code: 'TooManyRequests',
      type: expect.stringMatching(/Error$/),
      message: 'Too Many Requests',
      details: [],
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['x-ratelimit-limit']).toBe(String(LIMIT));
    expect(refused.headers['x-ratelimit-remaining']).toBe('0');
    expect((await send(list, 'idle')).statusCode).toBe(200);
  });
});
