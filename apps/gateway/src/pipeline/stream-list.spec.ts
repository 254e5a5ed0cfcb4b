import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { forbidden, notFound, requires, type OperationContext, type OperationRequest } from '@attestry/contracts';
import { errorOf, exchangeOf, NOW } from './exchange.spec-fixture.js';
import { streamList } from './stream-list.js';

const http = { method: 'GET' as const, path: '/x', success: 200, stream: true as const };
const access = requires('analytics:read');
const clock = { now: () => new Date(NOW + 50) };
const pages = [{ data: [{ n: 1 }, { n: 2 }], nextCursor: 'b' }, { data: [{ n: 3 }] }];
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
  return { calls, used: { clock, services: { call }, authenticate } as never };
};

describe('a list that is streamed', () => {
  it('is one line of JSON per entry; the caller is authenticated again for each further page', async () => {
    const { calls, used } = deps();
    const exchange = exchangeOf({}, { http, access });
    await streamList(exchange, used);
    expect(exchange.answer).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store', 'content-type': 'application/x-ndjson' },
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
  });

  it('has no body for HEAD', async () => {
    const exchange = exchangeOf({ method: 'HEAD' }, { http, access });
    await streamList(exchange, deps().used);
    expect(exchange.answer?.body).toBeUndefined();
  });

  it('whose first page fails is an error like any other', async () => {
    const services = { call: () => Promise.reject(notFound()) };
    const exchange = exchangeOf({}, { http, access });
    expect((await errorOf(() => streamList(exchange, { clock, services } as never))).kind).toBe('notFound');
    expect(exchange.answer).toBeUndefined();
  });
});
