import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { FastifyInstance } from 'fastify';
import {
  defineOperation,
  listEnvironments,
  managementAccess,
  PageQuery,
  publicAccess,
  type InterfaceName,
  type Operation,
} from '@attestry/contracts';
import { rootModule } from '@attestry/service-kit';
import { interfaceDocument, openApiDocument } from '@attestry/testing';
import { EnginesUnderTest } from '@attestry/testing/services';
import { gatewayParticipant, Pipeline } from '../index.js';
import { READ_DOCUMENT, SERVED_OPERATIONS } from './served-operations.js';

const deprecated = { since: '2026-01-01T00:00:00Z', sunset: '2026-07-01T00:00:00Z', link: '/docs' };
const name = listEnvironments.name;
/** Artificial: another way to the environments, which is going away. */
const old = defineOperation({
  name,
  summary: 'Environments, as they once were',
  http: { method: 'GET', path: '/v1/environments-of-old', success: 200, hosts: ['management'] },
  access: publicAccess,
  errors: 'management',
  query: PageQuery,
  deprecated,
});
const guarded = defineOperation({
  name,
  summary: 'Environments, as they once were, for clients',
  http: { method: 'GET', path: '/v1/environments-of-old-guarded', success: 200, hosts: ['management'] },
  access: managementAccess,
  errors: 'management',
  deprecated: { since: deprecated.since, link: 'https://attestry.example/changes' },
});
const operations = [old, guarded, listEnvironments] as unknown as Operation[];
const { schemas } = interfaceDocument('management').components;
const shapes = { ...schemas, PageQuery: { type: 'object', properties: { limit: { type: 'number' } } } };
const readDocument = (api: InterfaceName) => openApiDocument(api, operations, { shapes, version: 'v1.0.0' });

const service = new EnginesUnderTest({ settings: { BASE_DOMAIN: 'platform.test', RATE_LIMIT_PUBLIC: '6' } });
let app: NestFastifyApplication;
beforeAll(async () => {
  await service.open();
  const module = await Test.createTestingModule({ imports: [rootModule([gatewayParticipant], service.engines)] })
    .overrideProvider(SERVED_OPERATIONS)
    .useValue(operations)
    .overrideProvider(READ_DOCUMENT)
    .useValue(readDocument)
    .compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
    bodyParser: false,
    logger: false,
  });
  app.get(Pipeline).mount(app.getHttpAdapter().getInstance() as unknown as FastifyInstance);
  await app.init();
});
afterAll(async () => {
  await app?.close();
  await service.remove();
});

const get = async (url: string, address = '203.0.113.1') => {
  const answer = await app.inject({ url, headers: { host: 'management.platform.test' }, remoteAddress: address });
  const { deprecation, sunset, link } = answer.headers;
  return { status: answer.statusCode, received: { deprecation, sunset, link }, body: answer.body };
};

const headers = {
  // RFC 9745 §2.1: a date of RFC 9651, seconds since the epoch.
  deprecation: '@1767225600',
  // RFC 8594 §3: an HTTP date.
  sunset: 'Wed, 01 Jul 2026 00:00:00 GMT',
  link: '</docs>; rel="deprecation", </docs>; rel="sunset"',
};
const none = { deprecation: undefined, sunset: undefined, link: undefined };

describe('a deprecated operation is marked in every response', () => {
  it('in a successful one', async () => {
    const serving = service.engines.bus.serve(old.subject, async () => ({ ok: true, data: { data: [] } }));
    expect(await get('/v1/environments-of-old')).toEqual({ status: 200, received: headers, body: '{"data":[]}' });
    await serving.close();
  });

  it('in a 400, a 503 and a 429', async () => {
    expect(await get('/v1/environments-of-old?limit=0')).toMatchObject({ status: 400, received: headers });
    expect(await get('/v1/environments-of-old')).toMatchObject({ status: 503, received: headers });
    const address = '203.0.113.2';
    for (let call = 0; call < 6; call++) await get('/v1/environments-of-old?limit=0', address);
    expect(await get('/v1/environments-of-old', address)).toMatchObject({ status: 429, received: headers });
  });

  it('in a 401; without a fixed end there is no Sunset', async () => {
    const received = {
      ...none,
      deprecation: headers.deprecation,
      link: '<https://attestry.example/changes>; rel="deprecation"',
    };
    expect(await get('/v1/environments-of-old-guarded')).toMatchObject({ status: 401, received });
  });

  it('and other operations are not marked', async () => {
    expect(await get('/v1/environments')).toMatchObject({ status: 401, received: none });
    expect(await get('/v1/nothing')).toMatchObject({ status: 404, received: none });
  });

  it('and the interface definition marks it as well', async () => {
    const { body } = await get('/openapi.json', '203.0.113.3');
    const document = readDocument('management');
    expect(body).toBe(JSON.stringify(document));
    expect(document.paths['/v1/environments-of-old']!['get']).toMatchObject({
      deprecated: true,
      'x-sunset': deprecated.sunset,
      responses: { 200: { headers: { deprecation: {}, sunset: {}, link: {} } } },
    });
    expect(document.paths['/v1/environments']!['get']).not.toHaveProperty('deprecated');
  });
});

it('a gateway does not start when the documents and the declared operations differ', async () => {
  const starting = Test.createTestingModule({ imports: [rootModule([gatewayParticipant], service.engines)] })
    .overrideProvider(READ_DOCUMENT)
    .useValue(readDocument)
    .compile();
  await expect(starting).rejects.toThrow(
    /npm run docs.*management API: POST \/v1\/tenants \(createTenant\) is declared, but not described.*GET \/v1\/environments-of-old \(listEnvironments\) is described, but not declared.*tenant API: POST \/v1\/dids \(createDid\) is declared, but not described/,
  );
});
