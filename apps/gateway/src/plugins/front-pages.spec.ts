import { errorOf, EXCEEDED, exchangeOf, ratesOf, replyOf, TENANT } from '../pipeline/exchange.spec-fixture.js';
import { frontPages } from './front-pages.js';
import { passes } from './plugins.spec-fixture.js';

const deps = {
  config: { publicScheme: 'https', managementDomain: 'management.example' },
  health: { isClosing: false },
};
const serve = async (exchange: ReturnType<typeof exchangeOf>, limits = ratesOf()) => {
  const passed = await passes(frontPages({ ...deps, rates: limits.rates } as never), exchange);
  const { status, kept, sent } = replyOf(exchange);
  return { passed, status, kept, text: String(sent[0]), calls: limits.calls };
};
const hostOf = (api: 'management' | 'auth' | 'tenant' | 'custom-domain' | 'contexts') =>
  ({ api, publicUrl: `https://${api}.example`, ...(api === 'custom-domain' && { tenant: TENANT }) }) as const;

describe('/', () => {
  it.each([
    ['management', '/docs', '/health/ready'],
    ['auth', 'https://management.example/docs', '/health/ready'],
    ['tenant', '/docs', '/health/ready'],
    ['custom-domain', 'https://acme.example/docs', 'https://acme.example/health/ready'],
    ['contexts', 'https://management.example/docs', '/health/ready'],
  ] as const)('of %s links to %s and %s, and is counted as a public call', async (api, documentation, health) => {
    const { status, text, kept, calls } = await serve(exchangeOf({ url: '/' }, {}, { host: hostOf(api) }));
    expect([status, kept['content-type'], calls.length]).toEqual([200, 'text/html; charset=utf-8', 1]);
    expect(text).toContain(`<a href="${documentation}">API documentation</a>`);
    expect(text).toContain(`<a href="${health}">Health</a>`);
    expect(text).toContain(`<p class="host">${api}.example</p>`);
  });

  it('escapes the name of the host', async () => {
    const host = { api: 'management' as const, publicUrl: `https://a'&b.example` };
    const { text } = await serve(exchangeOf({ url: '/' }, {}, { host }));
    expect(text).toContain('<p class="host">a&#39;&#38;b.example</p>');
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
