import type { Api } from '@attestry/contracts';
import { errorOf, EXCEEDED, exchangeOf, ratesOf, replyOf, TENANT, unread } from '../pipeline/exchange.spec-fixture.js';
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
const config = { publicScheme: 'https', managementDomain: 'management.example' } as never;
const serve = async (exchange: ReturnType<typeof exchangeOf>, limits = ratesOf()) => {
  const passed = await passes(interfaceDocuments({ config, documents, health, unread, rates: limits.rates }), exchange);
  return { passed, reply: replyOf(exchange), calls: limits.calls };
};

describe('a document', () => {
  it.each(['GET', 'HEAD'])('is answered for %s, and counted as a public call', async (method) => {
    const { reply, calls } = await serve(exchangeOf({ method, url: '/openapi.json' }));
    expect([reply.status, reply.sent, calls.length]).toEqual([200, [body], 1]);
    expect(reply.kept).toMatchObject(OPEN);
  });

  it('with a matching ETag is a 304', async () => {
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

  it('is not served at other paths', async () => {
    for (const host of [undefined, { api: 'auth' as const, publicUrl: 'https://a.example' }])
      expect((await serve(exchangeOf({ url: '/docs' }, {}, { host }))).passed).toBe(true);
    const { passed, calls } = await serve(exchangeOf());
    expect([passed, calls]).toEqual([true, []]);
  });
});

const hostOf = (api: 'management' | 'auth' | 'tenant' | 'custom-domain' | 'contexts') =>
  ({ api, publicUrl: `https://${api}.example`, ...(api === 'custom-domain' && { tenant: TENANT }) }) as const;

describe('/', () => {
  it.each([
    ['management', '/docs', '/health/ready'],
    ['auth', 'https://management.example/docs', '/health/ready'],
    ['tenant', '/docs', '/health/ready'],
    ['custom-domain', 'https://acme.example/docs', 'https://acme.example/health/ready'],
    ['contexts', 'https://management.example/docs', '/health/ready'],
  ] as const)(
    'of the host %s links to %s and %s, and is counted as a public call',
    async (api, documentation, health) => {
      const { reply, calls } = await serve(exchangeOf({ url: '/' }, {}, { host: hostOf(api) }));
      const text = String(reply.sent[0]);
      expect([reply.status, reply.kept['content-type'], calls.length]).toEqual([200, 'text/html; charset=utf-8', 1]);
      expect(text).toContain(`<a href="${documentation}">API documentation</a>`);
      expect(text).toContain(`<a href="${health}">Health</a>`);
      expect(text).toContain(`<p class="host">${api}.example</p>`);
    },
  );

  it('escapes the name of the host', async () => {
    const host = { api: 'management' as const, publicUrl: `https://a'&b.example` };
    const { reply } = await serve(exchangeOf({ url: '/' }, {}, { host }));
    expect(String(reply.sent[0])).toContain('<p class="host">a&#39;&#38;b.example</p>');
  });

  it('is a 405 for POST, and a 429 for an address over its limit', async () => {
    const error = await errorOf(() => serve(exchangeOf({ method: 'POST', url: '/' })));
    expect(error).toMatchObject({ kind: 'methodNotAllowed', headers: { allow: 'GET, HEAD' } });
    expect((await errorOf(() => serve(exchangeOf({ url: '/' }), ratesOf(EXCEEDED)))).kind).toBe('tooManyRequests');
  });

  it('is left to the pipeline at other paths and unknown hosts', async () => {
    for (const exchange of [
      exchangeOf(),
      exchangeOf({ url: '//' }),
      exchangeOf({ url: '/' }, {}, { host: undefined }),
    ]) {
      const { passed, calls } = await serve(exchange);
      expect([passed, calls]).toEqual([true, []]);
    }
  });
});
