import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { forbidden, notFound, requires, type OperationContext, type OperationRequest } from '@attestry/contracts';
import { IsIn } from 'class-validator';
import { PageTurns } from '../request/page-turns.js';
import { errorOf, exchangeOf as fixtureOf, NOW } from './exchange.spec-fixture.js';
import { streamList } from './stream-list.js';

const http = { method: 'GET' as const, path: '/x', success: 200, stream: true as const };
const access = requires('analytics:read');
const clock = { now: () => new Date(NOW + 50) };
const pages = [{ data: [{ n: 1 }, { n: 2 }], nextCursor: 'b' }, { data: [{ n: 3 }] }];
const trailers: object[] = [];
beforeEach(() => trailers.splice(0));
/** Its reply records trailers. */
const exchangeOf: typeof fixtureOf = (...args) => {
  const exchange = fixtureOf(...args);
  Object.assign(exchange.reply.raw, { addTrailers: (added: object) => void trailers.push(added) });
  return exchange;
};
const deps = (authorize: () => Promise<void> = async () => undefined) => {
  const calls: unknown[] = [];
  const call = async (
    _operation: unknown,
    { page }: OperationRequest,
    { deadline }: OperationContext,
    isChecked: boolean,
  ) => {
    const cursor = page!.cursor;
    calls.push([cursor, deadline, isChecked]);
    return pages[cursor === undefined ? 0 : 1];
  };
  const authenticate = { caller: async () => void calls.push('caller'), authorize };
  return { calls, used: { clock, services: { call }, authenticate, pageTurns: new PageTurns() } as never };
};

describe('a list that is streamed', () => {
  it('is one line of JSON per entry; the caller is authenticated again for each further page', async () => {
    const { calls, used } = deps();
    const exchange = exchangeOf({}, { http, access });
    await streamList(exchange, used);
    expect(exchange.answer).toMatchObject({
      status: 200,
      headers: {
        'cache-control': 'no-store',
        'content-type': 'application/x-ndjson',
        trailer: 'X-Count, Content-Digest',
      },
    });
    // Buffered by bytes, not by lines.
    expect((exchange.answer!.body as Readable).readableObjectMode).toBe(false);
    expect(await text(exchange.answer!.body as Readable)).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
    expect(calls).toEqual([[undefined, NOW + 5050, true], 'caller', ['b', NOW + 5050, true]]);
  });

  it('requires no token when the operation needs none', async () => {
    const { calls, used } = deps();
    const exchange = exchangeOf({}, { http });
    await streamList(exchange, used);
    await text(exchange.answer!.body as Readable);
    expect(calls).not.toContain('caller');
  });

  it('is aborted when the caller lost its rights', async () => {
    const { used } = deps(() => Promise.reject(forbidden('x')));
    const exchange = exchangeOf({}, { http, access });
    await streamList(exchange, used);
    expect((await errorOf(() => text(exchange.answer!.body as Readable))).kind).toBe('forbidden');
    expect(trailers).toEqual([]);
  });

  it('has no body for HEAD', async () => {
    const exchange = exchangeOf({ method: 'HEAD' }, { http, access });
    await streamList(exchange, deps().used);
    expect(exchange.answer).toMatchObject({ body: undefined });
    expect(exchange.answer!.headers['trailer']).toBeUndefined();
  });

  it('ends with trailers once it is complete: number of entries and digest (RFC 9530 §2)', async () => {
    const exchange = exchangeOf({}, { http, access });
    await streamList(exchange, deps().used);
    expect(trailers).toEqual([]);
    const sent = await text(exchange.answer!.body as Readable);
    const digest = createHash('sha256').update(sent).digest('base64');
    expect(trailers).toEqual([{ 'X-Count': '3', 'Content-Digest': `sha-256=:${digest}:` }]);
  });

  it('has none in HTTP/1.0, which has no chunked coding', async () => {
    const exchange = exchangeOf({}, { http, access });
    (exchange.request.raw as { httpVersion: string }).httpVersion = '1.0';
    await streamList(exchange, deps().used);
    expect(exchange.answer!.headers['trailer']).toBeUndefined();
    expect(await text(exchange.answer!.body as Readable)).toHaveLength(24);
    expect(trailers).toEqual([]);
  });

  it('is CSV where the operation has columns and the query asks for it', async () => {
    class Query {
      @IsIn(['csv']) format: string;
    }
    const exchange = exchangeOf(
      { url: '/x?format=csv' },
      { http: { ...http, csvColumns: ['n'] }, access, query: Query },
    );
    await streamList(exchange, deps().used);
    expect(exchange.answer!.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(await text(exchange.answer!.body as Readable)).toBe('n\r\n1\r\n2\r\n3\r\n');
  });

  it('takes a turn of its tenant for each page, and none once its caller has left', async () => {
    const turns = new PageTurns();
    const leaves = await Promise.all(Array.from({ length: 4 }, () => turns.enter('t1')));
    const { calls, used } = deps();
    const exchange = exchangeOf({}, { http, access });
    const waiting = errorOf(() => streamList(exchange, { ...(used as object), pageTurns: turns } as never));
    await new Promise(setImmediate);
    expect(calls).toEqual([]);
    Object.assign(exchange.reply.raw, { destroyed: true });
    leaves[0]!();
    expect((await waiting).kind).toBe('unavailable');
    expect(calls).toEqual([]);
    await streamList(exchangeOf({}, { http, access }), { ...(used as object), pageTurns: turns } as never);
    expect(calls).toHaveLength(1);
  });

  it('whose first page fails is an error like any other', async () => {
    const services = { call: () => Promise.reject(notFound()) };
    const exchange = exchangeOf({}, { http, access });
    expect(
      (await errorOf(() => streamList(exchange, { clock, services, pageTurns: new PageTurns() } as never))).kind,
    ).toBe('notFound');
    expect(exchange.answer).toBeUndefined();
  });
});
