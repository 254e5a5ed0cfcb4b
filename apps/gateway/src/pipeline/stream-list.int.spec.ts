import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { forbidden, requires, type OperationRequest } from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { PageTurns } from '../request/page-turns.js';
import { exchangeOf } from './exchange.spec-fixture.js';
import { streamList } from './stream-list.js';

const http = { method: 'GET' as const, path: '/x', success: 200, stream: true as const };
const access = requires('analytics:read');
/** Larger than what the kernel and Node buffer together. */
const PAGES = 400;
const TEXT = 'x'.repeat(100_000);

/** Cursors of the queried pages. */
let queried: number[];
let refusedFrom: number;
let server: FastifyInstance;
let port: number;
beforeEach(async () => {
  [queried, refusedFrom] = [[], Infinity];
  const call = async (_operation: unknown, { page }: OperationRequest) => {
    const at = Number(page!.cursor ?? 0);
    queried.push(at);
    if (at >= refusedFrom) throw forbidden('x');
    return { data: [{ at, text: TEXT }], ...(at + 1 < PAGES && { nextCursor: String(at + 1) }) };
  };
  const authenticate = { caller: async () => ({ kind: 'public' }), authorize: async () => undefined };
  const used = { clock: { now: () => new Date() }, services: { call }, authenticate, pageTurns: new PageTurns() };
  server = fastify();
  server.get('/x', async (request, reply) => {
    const exchange = exchangeOf({}, { http, access }, { request, reply });
    await streamList(exchange, used as never);
    const { status, headers, body } = exchange.answer!;
    return reply.code(status).headers(headers).send(body);
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  port = (server.server.address() as AddressInfo).port;
});
afterEach(() => server.close());

const open = (): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    httpRequest({ port, host: '127.0.0.1', path: '/x' }, resolve).on('error', reject).end();
  });

describe('a streamed list over HTTP/1.1', () => {
  it('is chunked, and its trailers have the number of entries and the digest of its bytes [T871]', async () => {
    const answer = await open();
    expect(answer.headers).toMatchObject({ 'transfer-encoding': 'chunked', trailer: 'X-Count, Content-Digest' });
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      hash.update(chunk as Buffer);
    }
    expect(bytes).toBeGreaterThan(PAGES * TEXT.length);
    expect(answer.complete).toBe(true);
    expect(answer.trailers).toEqual({
      'x-count': String(PAGES),
      'content-digest': `sha-256=:${hash.digest('base64')}:`,
    });
    expect(queried).toHaveLength(PAGES);
  });

  it('queries no more pages than its reader takes, and none once the reader has left [T872]', async () => {
    const answer = await open();
    answer.pause();
    let before = -1;
    await waitUntil(
      async () => {
        const isStill = queried.length === before;
        before = queried.length;
        await new Promise((resolve) => setTimeout(resolve, 300));
        return isStill;
      },
      { what: 'the end of the buffers' },
    );
    expect(queried.length).toBeLessThan(PAGES / 2);
    answer.destroy();
    await waitUntil(async () => (await connections()) === 0, { what: 'the end of the connection' });
    const last = queried.length;
    const other = await open();
    other.resume();
    await new Promise((resolve) => other.once('end', resolve));
    // One page may have been in progress.
    expect(queried.length - PAGES).toBeLessThanOrEqual(last + 1);
  });

  it('that fails before its end has no trailers and no last chunk [T871]', async () => {
    refusedFrom = 5;
    const answer = await open();
    const chunks: Buffer[] = [];
    const failure = await (async () => {
      for await (const chunk of answer) chunks.push(chunk as Buffer);
    })().catch((error: unknown) => error as NodeJS.ErrnoException);
    expect(failure).toMatchObject({ code: 'ECONNRESET' });
    expect([answer.complete, answer.trailers]).toEqual([false, {}]);
    expect(Buffer.concat(chunks).length).toBeLessThanOrEqual(5 * (TEXT.length + 30));
  });

  it('that fails at once is an error, with nothing of the list', async () => {
    refusedFrom = 0;
    const answer = await open();
    answer.resume();
    expect([answer.statusCode, answer.headers['trailer']]).toEqual([500, undefined]);
  });

  it('keeps the connection for the next request', async () => {
    const socket = connect({ port, host: '127.0.0.1' });
    let received = '';
    socket.on('data', (chunk) => (received = (received + String(chunk)).slice(-200)));
    for (let n = 1; n <= 2; n++) {
      socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n');
      await waitUntil(() => received.endsWith('\r\n\r\n') && queried.length === n * PAGES, { what: 'the trailers' });
      expect(received).toMatch(/\r\n0\r\nX-Count: 400\r\nContent-Digest: sha-256=:[\w+/]{43}=:\r\n\r\n$/);
      received = '';
    }
    socket.destroy();
  });
});

it('a streamed list over HTTP/1.0 has neither chunks nor trailers', async () => {
  const socket = connect({ port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk as Buffer));
  socket.write('GET /x HTTP/1.0\r\nHost: x\r\n\r\n');
  await new Promise((resolve) => socket.once('end', resolve));
  const text = Buffer.concat(chunks).toString();
  const [head, body] = [text.slice(0, text.indexOf('\r\n\r\n')), text.slice(text.indexOf('\r\n\r\n') + 4)];
  expect(head).not.toMatch(/^(?:trailer|transfer-encoding):/im);
  expect(body.trimEnd().split('\n')).toHaveLength(PAGES);
});

const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
