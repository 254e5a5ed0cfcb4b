import type { Api } from '@attestry/contracts';
import { errorOf, EXCEEDED, exchangeOf, ratesOf, replyOf } from '../pipeline/exchange.spec-fixture.js';
import { interfaceDocuments } from './interface-documents.js';
import { passes } from './plugins.spec-fixture.js';

const body = Buffer.from('{}');
const OPEN = { etag: '"1"', 'access-control-allow-origin': '*' };
const documents = {
  find: (api: Api, path: string) =>
    api !== 'tenant'
      ? undefined
      : path === '/openapi.json'
        ? { body, headers: OPEN }
        : path === '/docs'
          ? { body, headers: { etag: '"2"' } }
          : undefined,
} as never;
const health = { isClosing: false } as never;
const serve = async (exchange: ReturnType<typeof exchangeOf>, limits = ratesOf()) => {
  const passed = await passes(interfaceDocuments({ documents, health, rates: limits.rates }), exchange);
  return { passed, reply: replyOf(exchange), calls: limits.calls };
};

describe('a document', () => {
  it.each(['GET', 'HEAD'])('is answered for %s, and counted as a public call', async (method) => {
    const { reply, calls } = await serve(exchangeOf({ method, url: '/openapi.json' }));
    expect([reply.status, reply.sent, calls.length]).toEqual([200, [body], 1]);
    expect(reply.kept).toMatchObject(OPEN);
  });

  it('that the caller has is a 304', async () => {
    const { reply } = await serve(exchangeOf({ url: '/docs', headers: { 'if-none-match': '"2"' } }));
    expect([reply.status, reply.sent]).toEqual([304, [undefined]]);
  });

  it.each([
    ['/openapi.json', 'GET, HEAD'],
    ['/docs', undefined],
  ])('answers a preflight: %s', async (url, methods) => {
    const { reply } = await serve(exchangeOf({ method: 'OPTIONS', url }));
    expect([reply.status, reply.kept['allow'], reply.kept['access-control-allow-methods']]).toEqual([
      204,
      'GET, HEAD, OPTIONS',
      methods,
    ]);
  });

  it.each(['POST', 'PATCH'])('is a 405 for %s, and for an address over its limit a 429', async (method) => {
    const limits = ratesOf();
    const error = await errorOf(() => serve(exchangeOf({ method, url: '/docs' }), limits));
    expect(error).toMatchObject({ kind: 'methodNotAllowed', headers: { allow: 'GET, HEAD' } });
    expect(limits.calls).toHaveLength(1);
    const exchange = exchangeOf({ url: '/docs' });
    expect((await errorOf(() => serve(exchange, ratesOf(EXCEEDED)))).kind).toBe('tooManyRequests');
  });

  it('is nowhere else', async () => {
    for (const host of [undefined, { api: 'auth' as const, publicUrl: 'https://a.example' }])
      expect((await serve(exchangeOf({ url: '/docs' }, {}, { host }))).passed).toBe(true);
    const { passed, calls } = await serve(exchangeOf());
    expect([passed, calls]).toEqual([true, []]);
  });
});
