import { METHODS, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { bodyLimitOf, issueCredential, issueNonce, lookUpTenant, type DirectoryTenant } from '@attestry/contracts';
import type { Reply, Serving } from '@attestry/messaging';
import { createNestLogger, parseConfig, rootModule } from '@attestry/service-kit';
import { EnginesUnderTest } from '@attestry/testing/services';
import type { FastifyInstance } from 'fastify';
import { gatewayParticipant } from '../gateway.module.js';
import { Pipeline } from '../pipeline/mount.js';
import { gatewayAdapter } from './gateway-adapter.js';

const TENANT = '11111111-1111-4111-8111-111111111111';
const HOST = 'acme.example.test';
const MANAGEMENT = 'management.example.test';
const REQUEST_TIMEOUT_MS = 1500;
const MIB = 1_048_576;

const service = new EnginesUnderTest({
  settings: {
    BASE_DOMAIN: 'example.test',
    RATE_LIMIT_PUBLIC: '1000000',
    RATE_LIMIT_WALLET_ADDRESS: '1000000',
    TRUSTED_PROXIES: '127.0.0.9',
    REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
  },
});
let app: NestFastifyApplication;
let port: number;
const serving: Serving[] = [];
/** Reply of issuance; a test sets it. */
let reply: () => Promise<Reply>;
let texts: string[];

const start = async () => {
  await service.open();
  const tenant: DirectoryTenant = {
    tenantId: TENANT,
    restrictIdentityRoles: false,
    host: HOST,
    clients: [],
  };
  serving.push(
    service.engines.bus.serve(lookUpTenant.subject, async () => ({ ok: true, data: { tenant } })),
    ...[issueNonce, issueCredential].map(({ subject }) =>
      service.engines.bus.serve(subject, (data) => {
        texts.push((data as { raw: { text: string } }).raw.text);
        return reply();
      }),
    ),
  );
  app = await NestFactory.create<NestFastifyApplication>(
    rootModule([gatewayParticipant], service.engines),
    gatewayAdapter(service.config, service.engines.metrics),
    { bodyParser: false, logger: createNestLogger(service.engines.logger), abortOnError: false },
  );
  app.get(Pipeline).mount(app.getHttpAdapter().getInstance() as unknown as FastifyInstance);
  await app.init();
  await app.listen(0, '127.0.0.1');
  port = ((app.getHttpServer() as Server).address() as AddressInfo).port;
};
beforeAll(start, 60_000);
afterAll(async () => {
  await app?.close();
  await Promise.all(serving.map((one) => one.close()));
  await service.remove();
});

const sockets: Socket[] = [];
beforeEach(() => {
  reply = async () => ({ ok: true, data: { c_nonce: 'x' } });
  texts = [];
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}
interface Peer {
  socket: Socket;
  /** The first one; status 0 when the connection ends without. */
  answer: Promise<Answer>;
  closed: Promise<number>;
}
const parse = (text: string): Answer | undefined => {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first, ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(': ', 1)[0]!.toLowerCase(), line.slice(line.indexOf(': ') + 2)]),
  );
  const body = text.slice(end + 4);
  if (headers['content-length'] !== undefined && Buffer.byteLength(body) < Number(headers['content-length']))
    return undefined;
  return { status: Number(first!.split(' ')[1]), headers, body };
};
/** Sends the text unchanged. @param localAddress the peer address for the server */
const send = (text: string | Buffer, localAddress = '127.0.0.1'): Peer => {
  const begun = performance.now();
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  sockets.push(socket);
  let received = '';
  socket.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now() - begun)));
  const answer = new Promise<Answer>((resolve) => {
    socket.on('data', (chunk) => {
      received += String(chunk);
      const parsed = parse(received);
      if (parsed) resolve(parsed);
    });
    socket.once('close', () => resolve({ status: 0, headers: {}, body: received }));
  });
  socket.write(text);
  return { socket, answer, closed };
};
const head = (method: string, path: string, ...lines: string[]) =>
  [`${method} ${path} HTTP/1.1`, `Host: ${HOST}`, ...lines, '', ''].join('\r\n');
const NONCE = '/v1/openid/nonce';
const nonceHead = (...lines: string[]) => head('POST', NONCE, ...lines);
/** The operation that takes the longest body of all without a token. */
const credentialHead = (...lines: string[]) => head('POST', '/v1/openid/credential', ...lines);
const LONGEST = bodyLimitOf(issueCredential.http!);

const until = async (condition: () => boolean): Promise<void> => {
  for (let n = 0; n < 500; n++) {
    if (condition()) return;
    await pause(10);
  }
  throw new Error(`waited in vain: ${condition.toString()}, ${texts.length} calls`);
};

const refused = async (reason: string): Promise<number> => {
  const name = `attestry_http_refused_total{reason="${reason}"} `;
  const line = (await service.engines.metrics.text()).split('\n').find((text) => text.startsWith(name));
  return Number(line?.slice(name.length) ?? 0);
};

/** Headers of every answer (specification notes, Limits). */
const expectCommon = ({ headers }: Answer) => {
  expect(headers['x-request-id']).toMatch(/^[0-9A-Za-z]{22}$/);
  for (const name of ['limit', 'remaining', 'reset']) expect(headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/);
  expect(headers['cache-control']).toBe('no-store');
};
const expectTooMany = (answer: Answer) => {
  expect(answer.status).toBe(429);
  expectCommon(answer);
  expect(answer.headers['retry-after']).toBe('1');
  expect(JSON.parse(answer.body)).toEqual({
    error: 'temporarily_unavailable',
    error_description: expect.stringMatching(/^Too many .* in flight from this address$/),
    message: expect.any(String),
  });
};

describe('a body that takes too long to arrive', () => {
  it.each([
    ['after a Content-Length', ['content-length: 1000'], 'x'],
    ['in chunks', ['transfer-encoding: chunked'], '1\r\nx\r\n'],
  ])('%s gets a 408 in the error shape of its operation, and the connection is closed', async (_what, lines, drop) => {
    const peer = send(nonceHead(...lines));
    const drops = setInterval(() => peer.socket.write(drop), 100);
    const answer = await peer.answer;
    expect(await peer.closed).toBeLessThan(REQUEST_TIMEOUT_MS + 4000);
    clearInterval(drops);
    expect(answer.status).toBe(408);
    expectCommon(answer);
    expect(JSON.parse(answer.body)).toEqual({ error: 'invalid_request', error_description: 'Request Timeout' });
    expect(texts).toEqual([]);
  });

  it('is ended with the default time-out of 30 s', () => {
    expect(parseConfig({}).requestTimeoutMs).toBe(30_000);
  });

  it('is ended also when the request was already refused', async () => {
    const peer = send(head('POST', '/v1/dids', 'content-length: 1000', 'content-type: application/json'));
    expect((await peer.answer).status).toBe(401);
    const drops = setInterval(() => peer.socket.write('x'), 100);
    expect(await peer.closed).toBeLessThan(REQUEST_TIMEOUT_MS + 4000);
    clearInterval(drops);
  });
});

describe('requests in flight of one address', () => {
  it('are at most 256: the next is a 429 in the error shape of its operation; other addresses are not affected', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    reply = async () => {
      await held;
      return { ok: true, data: { c_nonce: 'x' } };
    };
    const before = await refused('requests-in-flight');
    const many = Array.from({ length: 256 }, () => send(nonceHead('content-length: 0')));
    await until(() => texts.length >= 256);
    expectTooMany(await send(nonceHead('content-length: 0')).answer);
    const managed = await send(`GET /v1/tenants HTTP/1.1\r\nHost: ${MANAGEMENT}\r\n\r\n`).answer;
    expect(JSON.parse(managed.body)).toMatchObject({ code: 'TooManyRequests', type: 'RateLimitError', details: [] });
    expect((await send(head('GET', '/health/live')).answer).status).toBe(200);
    expect(await refused('requests-in-flight')).toBe(before + 2);
    const other = send(nonceHead('content-length: 0'), '127.0.0.2');
    await until(() => texts.length >= 257);
    release();
    expect((await other.answer).status).toBe(200);
    for (const { answer } of many) expect((await answer).status).toBe(200);
    expect((await send(nonceHead('content-length: 0')).answer).status).toBe(200);
  });

  it('are released when callers disconnect', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<Reply>((resolve) => (release = () => resolve({ ok: true, data: {} })));
    reply = () => held;
    const many = Array.from({ length: 256 }, () => send(nonceHead('content-length: 0')));
    await until(() => texts.length >= 256);
    for (const { socket } of many) socket.destroy();
    await Promise.all(many.map(({ closed }) => closed));
    reply = async () => ({ ok: true, data: { c_nonce: 'x' } });
    await pause(200);
    expect((await send(nonceHead('content-length: 0')).answer).status).toBe(200);
    release();
  });
});

describe('bytes of bodies in flight of one address', () => {
  const chunk = (size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
  /** Requests that together declare this number of bytes and send none of them. */
  const holding = (bytes: number) =>
    Array.from({ length: Math.ceil(bytes / LONGEST) }, (_, at) =>
      send(credentialHead(`content-length: ${Math.min(LONGEST, bytes - at * LONGEST)}`)),
    );

  it('are at most 8 MiB: a body longer than the remainder is refused before it is read', async () => {
    const before = await refused('body-bytes-in-flight');
    const many = holding(8 * MIB);
    await pause(200);
    const peer = send(nonceHead('content-length: 1'));
    expectTooMany(await peer.answer);
    await peer.closed;
    expect(await refused('body-bytes-in-flight')).toBe(before + 1);
    expect((await send(`${nonceHead('content-length: 1')}x`, '127.0.0.2').answer).status).toBe(200);
    // Without a body nothing more is in flight.
    expect((await send(nonceHead('content-length: 0')).answer).status).toBe(200);
    for (const { socket } of many) socket.destroy();
    await pause(200);
    expect((await send(`${nonceHead('content-length: 1')}x`).answer).status).toBe(200);
  });

  it('include chunked bodies', async () => {
    const many = holding(8 * MIB - LONGEST);
    const streaming = send(credentialHead('transfer-encoding: chunked') + chunk(LONGEST - 100));
    await pause(200);
    const peer = send(credentialHead('transfer-encoding: chunked') + chunk(50));
    await pause(100);
    peer.socket.write(chunk(51));
    expectTooMany(await peer.answer);
    streaming.socket.write('0\r\n\r\n');
    expect((await streaming.answer).status).toBe(200);
    expect(texts).toEqual(['x'.repeat(LONGEST - 100)]);
    for (const { socket } of many) socket.destroy();
  });

  it('do not change the 413 of a body beyond 1 MiB', async () => {
    expect((await send(nonceHead(`content-length: ${9 * MIB}`)).answer).status).toBe(413);
    const peer = send(nonceHead('transfer-encoding: chunked') + chunk(MIB) + chunk(1));
    expect((await peer.answer).status).toBe(413);
  });
});

describe('a request that does not name exactly one host', () => {
  const get = (target: string, ...lines: string[]) =>
    send([`GET ${target} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n')).answer;

  it.each([
    ['two Host fields', ['/v1/webhooks/jwks', `Host: ${HOST}`, 'Host: b.example'], 'must be sent once'],
    [
      'a Host field that differs from the target',
      [`http://b.example/x`, `Host: ${HOST}`],
      'must be the host of the request target',
    ],
    ['no Host field', ['/v1/webhooks/jwks'], 'is required'],
    [
      'two Host fields in a request for health',
      ['/health/live', `Host: ${HOST}`, `Host: ${HOST}`],
      'must be sent once',
    ],
  ])('is a 400 with %s', async (_what, [target, ...lines], msg) => {
    const answer = await get(target!, ...lines);
    expect(answer.status).toBe(400);
    expectCommon(answer);
    expect(JSON.parse(answer.body)).toEqual({
      code: 'BadRequest',
      message: 'Validation Error',
      details: [{ msg, param: 'Host', location: 'headers' }],
    });
  });

  it('is refused in the error shape of the first host', async () => {
    const answer = await get('/v1/tenants', `Host: ${MANAGEMENT}`, `Host: ${HOST}`);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'BadRequest', type: 'ValidationError' });
  });

  it('is served when both forms name the same host', async () => {
    const post = (target: string) =>
      send(`POST ${target} HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 0\r\n\r\n`).answer;
    expect((await post(NONCE)).status).toBe(200);
    expect((await post(`http://${HOST.toUpperCase()}:80${NONCE}`)).status).toBe(200);
  });
});

describe('unsupported methods', () => {
  const served = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'CONNECT'];

  it.each(METHODS.filter((method) => !served.includes(method)))(
    'of a request are a 405 in the error shape of the API: %s',
    async (method) => {
      const answer = await send(head(method, '/v1/dids', 'content-length: 0')).answer;
      expect(answer.status).toBe(405);
      expectCommon(answer);
      expect(answer.headers['allow']).toBe('GET, HEAD, POST');
      expect(JSON.parse(answer.body)).toEqual({
        code: 'MethodNotAllowed',
        message: 'Method Not Allowed: use GET, HEAD or POST',
      });
    },
  );

  it('are also refused on unknown paths and hosts', async () => {
    for (const text of [head('TRACE', '/v9/nothing'), head('TRACE', '*'), 'TRACE / HTTP/1.1\r\nHost: b\r\n\r\n']) {
      const answer = await send(text).answer;
      expect(answer.status).toBe(405);
      expectCommon(answer);
      expect(answer.headers['allow']).toBe('GET, HEAD, POST, PUT, DELETE, OPTIONS');
    }
    const managed = await send(`PROPFIND /v1/tenants HTTP/1.1\r\nHost: ${MANAGEMENT}\r\n\r\n`).answer;
    expect(JSON.parse(managed.body)).toMatchObject({ code: 'MethodNotAllowed', type: 'MethodError' });
  });

  it('OPTIONS * is a 404 with a request id', async () => {
    const answer = await send(head('OPTIONS', '*')).answer;
    expect(answer.status).toBe(404);
    expectCommon(answer);
  });
});

describe('invalid UTF-8', () => {
  const BAD = Buffer.from([0xff]);
  const FORM = 'content-type: application/x-www-form-urlencoded';

  it('in the path is a 400 that names it', async () => {
    for (const path of ['/v1/dids/%ff', '/%C3%28']) {
      const answer = await send(head('GET', path)).answer;
      expect(answer.status).toBe(400);
      expectCommon(answer);
      const details = [{ msg: 'must be valid UTF-8', param: 'path', location: 'params' }];
      expect(JSON.parse(answer.body)).toEqual({ code: 'BadRequest', message: 'Validation Error', details });
    }
    const raw = await send(
      Buffer.concat([Buffer.from('GET /v1/'), BAD, Buffer.from(` HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)]),
    ).answer;
    expect([raw.status, raw.headers['x-request-id']]).toEqual([400, expect.any(String)]);
  });

  it.each([
    ['the query', 'a', Buffer.from(head('POST', `${NONCE}?a=%ff`, 'content-length: 0'))],
    ['the body', 'body', Buffer.concat([Buffer.from(nonceHead('content-length: 1')), BAD])],
    ['a form', 'b', Buffer.from(`${nonceHead('content-length: 9', FORM)}a=1&b=%ff`)],
  ])('in %s is a 400 on %s, and reaches no operation', async (_what, param, bytes) => {
    const answer = await send(bytes).answer;
    expect(answer.status).toBe(400);
    expectCommon(answer);
    expect(JSON.parse(answer.body)).toEqual({
      error: 'invalid_request',
      error_description: `${param} must be valid UTF-8`,
    });
    expect(texts).toEqual([]);
  });
});

describe('every response', () => {
  const TEXTS: [string, string][] = [
    ['an operation', nonceHead('content-length: 0')],
    ['a refused call', head('GET', '/v1/dids')],
    ['an unknown path', head('GET', '/v9/nothing')],
    ['a request for a document', head('GET', '/docs')],
    ['a preflight', head('OPTIONS', NONCE)],
    ['a request for health', head('GET', '/health/ready')],
    ['an invalid request', 'FROB / HTTP/1.1\r\n\r\n'],
  ];

  it.each(TEXTS)('to %s has nosniff, and over http no Strict-Transport-Security', async (_what, text) => {
    const { headers } = await send(text).answer;
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers).not.toHaveProperty('strict-transport-security');
  });

  it('over https has Strict-Transport-Security for a year, without subdomains', async () => {
    const by = async (scheme: string, from: string) => {
      const answer = await send(head('GET', '/v1/dids', `X-Forwarded-Proto: ${scheme}`), from).answer;
      return answer.headers['strict-transport-security'];
    };
    expect(await by('https', '127.0.0.9')).toBe('max-age=31536000');
    expect(await by('http, https', '127.0.0.9')).toBe('max-age=31536000');
    expect(await by('http', '127.0.0.9')).toBeUndefined();
    // Only a trusted proxy can state the scheme.
    expect(await by('https', '127.0.0.1')).toBeUndefined();
  });
});

describe('pages of other origins', () => {
  const preflight = (path: string, host = HOST) =>
    send(
      `OPTIONS ${path} HTTP/1.1\r\nHost: ${host}\r\nOrigin: https://wallet.example\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
    ).answer;
  const EXPOSED =
    'WWW-Authenticate, Retry-After, DPoP-Nonce, OAuth-Client-Attestation-Challenge, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset';
  const corsOf = ({ headers }: Answer) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

  it.each([
    ['/v1/oauth/token', 'POST'],
    ['/v1/openid/nonce', 'POST'],
    ['/v1/openid/credential', 'POST'],
    ['/.well-known/openid-credential-issuer', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
  ])('may call %s', async (path, methods) => {
    const answer = await preflight(path);
    expect(answer.status).toBe(204);
    expectCommon(answer);
    expect(corsOf(answer)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': methods,
      'access-control-allow-headers':
        'Authorization, Content-Type, DPoP, OAuth-Client-Attestation, OAuth-Client-Attestation-PoP',
      'access-control-max-age': '600',
    });
  });

  it.each([
    ['/v1/dids', HOST, 'GET, HEAD, POST, OPTIONS'],
    ['/v1/tenants', MANAGEMENT, 'GET, HEAD, POST, OPTIONS'],
    ['/oauth/token', 'auth.example.test', 'POST, OPTIONS'],
    ['/v1/oauth/authorize', HOST, 'GET, HEAD, OPTIONS'],
    ['/docs', HOST, 'GET, HEAD, OPTIONS'],
  ])('may not call %s: the preflight names only the methods', async (path, host, allow) => {
    const answer = await preflight(path, host);
    expect([answer.status, answer.headers['allow']]).toEqual([204, allow]);
    expect(corsOf(answer)).toEqual({});
  });

  it('may read responses and errors only of operations that they may call', async () => {
    const open = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
    expect(corsOf(await send(nonceHead('content-length: 0')).answer)).toEqual(open);
    expect(corsOf(await send(head('POST', `${NONCE}?a=%ff`, 'content-length: 0')).answer)).toEqual(open);
    for (const text of [head('GET', '/v1/dids'), head('GET', '/v9/nothing'), head('GET', '/health/ready')])
      expect(corsOf(await send(text).answer)).toEqual({});
    const token = `POST /oauth/token HTTP/1.1\r\nHost: auth.example.test\r\nContent-Length: 0\r\n\r\n`;
    expect(corsOf(await send(token).answer)).toEqual({});
  });
});

describe('readiness on the public port', () => {
  it('is one word, without the failing check', async () => {
    let healthy = false;
    service.engines.health.register('dids.lists', () => [{ name: 'x', healthy, error: 'broken' }]);
    const down = await send(head('GET', '/health/ready')).answer;
    expect([down.status, down.body]).toEqual([503, '{"status":"not ready"}']);
    healthy = true;
    const up = await send(head('GET', '/health/ready')).answer;
    expect([up.status, up.body]).toEqual([200, '{"status":"ready"}']);
  });
});
