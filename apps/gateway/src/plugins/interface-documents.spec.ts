import type { HostKind } from '../request/hosts.js';
import {
  errorOf,
  EXCEEDED,
  exchangeOf,
  HOST,
  ratesOf,
  replyOf,
  TENANT,
  unread,
} from '../pipeline/exchange.spec-fixture.js';
import { interfaceDocuments } from './interface-documents.js';
import { passes } from './plugins.spec-fixture.js';

/** Header of Chromium. */
const BROWSER =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';
const body = Buffer.from('{}');
const kept = (digest: string) => ({ digest, bytes: body, isCompressible: true, gzipBytes: 0 });
const OPEN = { 'access-control-allow-origin': '*' };
const documents = {
  find: ({ api }: { api: HostKind }, path: string) =>
    api !== 'tenant'
      ? undefined
      : path === '/openapi.json'
        ? { kept: kept('1'), headers: OPEN }
        : path === '/docs'
          ? { kept: kept('2'), headers: {} }
          : undefined,
} as never;
const health = { isClosing: false } as never;
const GZIP = Buffer.from('gzip');
const published = { gzipOf: async () => GZIP } as never;
const config = {
  publicScheme: 'https',
  managementDomain: 'management.example',
  environments: [
    { domain: 'other.example', authorizationServerDomain: 'auth.other.example' },
    { domain: 'Platform.example:443', authorizationServerDomain: 'auth.example' },
  ],
} as never;
const serve = async (exchange: ReturnType<typeof exchangeOf>, limits = ratesOf()) => {
  const deps = { config, documents, health, unread, published, rates: limits.rates };
  const passed = await passes(interfaceDocuments(deps), exchange);
  return { passed, reply: replyOf(exchange), calls: limits.calls };
};

describe('a document', () => {
  it.each(['GET', 'HEAD'])('is answered for %s, and counted as a public call', async (method) => {
    const { reply, calls } = await serve(exchangeOf({ method, url: '/openapi.json' }));
    expect([reply.status, reply.sent, calls.length]).toEqual([200, [body], 1]);
    expect(reply.kept).toMatchObject({ ...OPEN, etag: '"1"', vary: 'Accept-Encoding' });
  });

  it.each(['"2"', 'W/"2"', '"1", "2"', '*'])('with a matching ETag is a 304: %s', async (tag) => {
    const { reply } = await serve(exchangeOf({ url: '/docs', headers: { 'if-none-match': tag } }));
    expect([reply.status, reply.sent]).toEqual([304, [undefined]]);
  });

  it('is compressed where the client prefers it, with another ETag [T663]', async () => {
    const headers = { 'accept-encoding': 'gzip, br' };
    const { reply } = await serve(exchangeOf({ url: '/docs', headers }));
    expect([reply.status, reply.sent]).toEqual([200, [GZIP]]);
    expect(reply.kept).toMatchObject({ etag: '"2.gzip"', 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const again = await serve(exchangeOf({ url: '/docs', headers: { ...headers, 'if-none-match': '"2.gzip"' } }));
    expect(again.reply.status).toBe(304);
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

const hostOf = (api: HostKind) =>
  ({ api, publicUrl: `https://${api}.example`, ...(api === 'custom-domain' && { tenant: TENANT }) }) as const;

describe('/', () => {
  it.each([
    ['management', '/docs', '/health/ready'],
    ['auth', 'https://management.example/docs', '/health/ready'],
    ['tenant', '/docs', '/health/ready'],
    ['custom-domain', 'https://acme.example/docs', 'https://acme.example/health/ready'],
    ['contexts', 'https://management.example/docs', '/health/ready'],
    ['platform', 'https://management.example/docs', '/health/ready'],
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

  it('of the domain of an environment has the first steps, as commands [T660]', async () => {
    const { reply } = await serve(exchangeOf({ url: '/' }, {}, { host: hostOf('platform') }));
    const text = String(reply.sent[0]);
    expect(text).toContain('&#60;subdomain&#62;.platform.example');
    expect(text).toContain('<code>curl https://auth.example/oauth/token -H &#39;content-type');
    expect(text).toContain('<a href="https://auth.example">Authorization server</a>');
  });

  it.each([
    ['application/json', 'application/json; charset=utf-8'],
    ['application/json, text/plain, */*', 'application/json; charset=utf-8'],
    ['text/html;q=0.5, application/json', 'application/json; charset=utf-8'],
    [BROWSER, 'text/html; charset=utf-8'],
    ['*/*', 'text/html; charset=utf-8'],
    ['image/png', 'text/html; charset=utf-8'],
  ])('is a page, or JSON with absolute links, by Accept: %s [T662]', async (accept, type) => {
    const exchange = exchangeOf({ url: '/', headers: { accept } }, {}, { host: hostOf('tenant') });
    const { reply } = await serve(exchange);
    expect([reply.status, reply.kept['content-type'], reply.kept['vary']]).toEqual([200, type, 'Accept']);
    if (!type.startsWith('application')) return;
    expect(JSON.parse(String(reply.sent[0]))).toMatchObject({
      title: 'Tenant API',
      links: expect.arrayContaining([{ title: 'API documentation', href: 'https://tenant.example/docs' }]) as unknown,
    });
  });

  it.each(['GET', 'HEAD'])('of an unknown host is a 404, a page for browsers, counted: %s [T661]', async (method) => {
    const headers = { accept: BROWSER, 'if-none-match': '*' };
    const { reply, calls } = await serve(exchangeOf({ method, url: '/', headers }, {}, { host: undefined }));
    expect([reply.status, reply.kept['content-type'], calls.length]).toEqual([404, 'text/html; charset=utf-8', 1]);
    expect(reply.kept).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY', vary: 'Accept' });
    expect(reply.kept['content-security-policy']).toContain("default-src 'none'");
    expect(String(reply.sent[0])).toContain('<a href="https://management.example/docs">API documentation</a>');
    expect(String(reply.sent[0])).not.toContain(HOST);
  });

  it('is left to the pipeline at other paths, and at unknown hosts unless a page is preferred [T661]', async () => {
    const unknown = (accept?: string, method = 'GET', url = '/') =>
      exchangeOf({ method, url, headers: { ...(accept && { accept }) } }, {}, { host: undefined });
    for (const exchange of [
      exchangeOf(),
      exchangeOf({ url: '//' }),
      unknown(),
      unknown('*/*'),
      unknown('application/json'),
      unknown('text/html, application/json'),
      unknown(BROWSER, 'POST'),
      unknown(BROWSER, 'GET', '/v1/dids'),
    ]) {
      const { passed, calls } = await serve(exchange);
      expect([passed, calls]).toEqual([true, []]);
    }
  });
});
