import { METHODS } from 'node:http';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import { BoundedJson, calledBy, defineOperation, type Operation } from '@attestry/contracts';
import { readableUrl } from '../server/readable-url.js';
import { exchangePlugin } from './exchange-hook.js';
import { HOST, NOW, operationOf, ratesOf, TENANT, unread } from './exchange.spec-fixture.js';
import { Pipeline } from './mount.js';
import { Routes } from './routes.js';
import { sendAnswer } from './send-answer.js';

class Body {
  @BoundedJson() a: unknown;
}
const post = (path: string, more: object = {}) => ({ method: 'POST' as const, path, success: 201, ...more });
const SERVED = [
  operationOf(),
  operationOf({ http: post('/v1/things'), body: Body }),
  operationOf({ http: post('/v1/raw', { body: 'raw', maxBodyBytes: 10 }) }),
  // Without a route.
  defineOperation({ name: 'dids.inner', summary: 'x', access: calledBy('issuance'), errors: 'tenant', body: Body }),
] as Operation[];

const serverOf = () => {
  const ended: unknown[][] = [];
  const calls: unknown[] = [];
  const added: number[] = [];
  let released = 0;
  const config = {
    operationTimeoutMs: 5000,
    publicScheme: 'https',
    managementDomain: 'm.example',
    trustedProxies: [],
  } as never;
  const host = { api: 'tenant', publicUrl: `https://${HOST}`, tenant: TENANT };
  const hosts = { apiOf: () => 'tenant', resolve: (name: string) => (name === HOST ? host : undefined) } as never;
  const health = { isClosing: false };
  const deps = {
    config,
    hosts,
    health,
    routes: new Routes(hosts, config, SERVED),
    ...ratesOf(),
    unread: { ...(unread as object), watch: () => undefined },
    inFlight: { reserve: () => ({ add: (bytes: number) => void added.push(bytes), release: () => void released++ }) },
    services: {
      call: async (operation: Operation, { body, raw }: { body: unknown; raw?: { text: string } }) => {
        calls.push(raw?.text ?? body);
        return { called: operation.http!.path };
      },
    },
    observe: {
      begin: (observed: object, operation: Operation) => Object.assign(observed, { operation }),
      end: (...args: unknown[]) => void ended.push(args),
    },
    documents: {
      find: (_host: object, path: string) =>
        path === '/docs'
          ? { headers: {}, kept: { digest: 'd', bytes: Buffer.from('documents'), isCompressible: true, gzipBytes: 0 } }
          : undefined,
    },
    clock: { now: () => new Date(NOW) },
    logger: { error: () => undefined, info: () => undefined, debug: () => undefined },
  } as never;
  const signIn = {
    plugin: exchangePlugin((exchange) => {
      if (exchange.path === '/sign-in') sendAnswer(exchange, deps, { status: 200, headers: {}, body: 'sign-in' });
    }),
  } as never;
  const server: FastifyInstance = Fastify({ rewriteUrl: readableUrl });
  new Pipeline(deps, signIn, SERVED).mount(server);
  const send = async (method: string, url: string, more: { headers?: object; payload?: string | Readable } = {}) => {
    const { headers = {}, ...payload } = more;
    const request = { method: method as 'GET', url, headers: { host: HOST, ...headers }, ...payload };
    const response = await server.inject(request);
    return { status: response.statusCode, headers: response.headers, text: response.body };
  };
  return { server, send, ended, calls, added, released: () => released };
};

describe('the HTTP server', () => {
  let mounted: ReturnType<typeof serverOf>;
  beforeEach(() => {
    mounted = serverOf();
  });
  afterEach(() => mounted.server.close());
  const json = { 'content-type': 'application/json' };

  it('runs the steps of the operation around its body', async () => {
    const { send, calls } = mounted;
    expect(await send('GET', '/v1/things/7')).toMatchObject({ status: 200, text: '{"called":"/v1/things/:id"}' });
    const answer = await send('POST', '/v1/things', { headers: json, payload: '{"a":1}' });
    expect(answer).toMatchObject({ status: 201, text: '{"called":"/v1/things"}' });
    expect(answer.headers).toMatchObject({ 'x-request-id': expect.any(String) as string, 'x-ratelimit-limit': '10' });
    expect(calls).toEqual([{}, { a: 1 }]);
  });

  it('reads a body of any media type as it was sent', async () => {
    for (const type of ['application/json', 'text/plain', 'image/png'])
      expect(
        (await mounted.send('POST', '/v1/raw', { headers: { 'content-type': type }, payload: '{ "a"' })).status,
      ).toBe(201);
    expect(mounted.calls).toEqual(['{ "a"', '{ "a"', '{ "a"']);
  });

  it('reads no longer body than the operation accepts, and counts the bytes of one without a declared length', async () => {
    const { send, added, calls } = mounted;
    const headers = { 'content-type': 'text/plain' };
    expect((await send('POST', '/v1/raw', { headers, payload: 'a'.repeat(11) })).status).toBe(413);
    const chunked = (bytes: number) =>
      send('POST', '/v1/raw', { headers, payload: Readable.from(['a'.repeat(bytes)]) });
    expect((await chunked(11)).status).toBe(413);
    expect(added).toEqual([]);
    expect((await chunked(10)).status).toBe(201);
    expect(added).toEqual([10]);
    expect(calls).toEqual(['a'.repeat(10)]);
  });

  it.each([
    ['GET', '/health/live', 200, '{"status":"live"}'],
    ['GET', '/', 200, HOST],
    ['GET', '/docs', 200, 'documents'],
    ['GET', '/sign-in', 200, 'sign-in'],
    ['OPTIONS', '/v1/things', 204, ''],
  ])('serves requests that are not operations: %s %s', async (method, path, status, text) => {
    const answer = await mounted.send(method, path);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(text);
    expect(answer.headers).toHaveProperty('x-request-id');
  });

  it('responds to errors of all steps in the shape of the API', async () => {
    const { send } = mounted;
    const error = async (...request: Parameters<typeof send>) => {
      const { status, text, headers } = await send(...request);
      expect(headers).toHaveProperty('x-request-id');
      return [status, (JSON.parse(text) as { code: string }).code];
    };
    expect(await error('GET', '/v1/nothing')).toEqual([404, 'NotFound']);
    expect(await error('GET', '/v1/things/7', { headers: { host: 'other.example' } })).toEqual([404, 'NotFound']);
    expect(await error('GET', '/v1/things/7', { headers: { host: 'a b' } })).toEqual([400, 'BadRequest']);
    expect(await error('GET', '/v1/things/%ff')).toEqual([400, 'BadRequest']);
    expect(await error('POST', '/v1/things', { headers: json, payload: '{' })).toEqual([400, 'BadRequest']);
    expect(await error('PUT', '/v1/things', { headers: json, payload: '{}' })).toEqual([405, 'MethodNotAllowed']);
  });

  it('responds to each method that Node knows and the API does not have as to any that is not served', async () => {
    const served = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'CONNECT'];
    for (const method of METHODS.filter((it) => !served.includes(it))) {
      const { status, headers } = await mounted.send(method, '/v1/things');
      expect([method, status, headers['allow']]).toEqual([method, 405, 'POST']);
      expect(headers).toHaveProperty('x-request-id');
    }
  });

  it('calls the operation of GET for HEAD', async () => {
    expect((await mounted.send('HEAD', '/v1/things/7')).status).toBe(200);
    expect(mounted.calls).toHaveLength(1);
  });

  it('observes the end of each request, and releases what it had in flight', async () => {
    const { send, ended, released } = mounted;
    await send('GET', '/v1/things/7');
    await send('GET', '/v1/nothing');
    expect(ended).toEqual([
      [expect.objectContaining({ operation: SERVED[0] }), 200, expect.any(Number)],
      [{}, 404, expect.any(Number)],
    ]);
    expect(released()).toBeGreaterThan(1);
  });
});
