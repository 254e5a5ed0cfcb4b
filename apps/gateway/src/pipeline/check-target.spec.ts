import { checkTarget } from './check-target.js';
import { errorOf, EXCEEDED, exchangeOf, ratesOf } from './exchange.spec-fixture.js';

const known = { allowed: (path: string) => (path === '/known' ? ['GET', 'HEAD'] : []) };
const routes = { byApi: { tenant: known } } as never;

describe('the target of a request', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])('of %s is accepted synchronously', (method) => {
    const { rates, calls } = ratesOf();
    expect(checkTarget(exchangeOf({ method }), { routes, rates })).toBeUndefined();
    expect(calls).toEqual([]);
  });

  it.each([
    ['a known path', '/known', true, 'GET, HEAD'],
    ['an unknown path', '/unknown', true, 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
    ['an unknown host', '/known', false, 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
    ['a path that is not UTF-8', '/%ff', true, 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
  ])('with a method that is not served is a 405 on %s', async (_what, url, isHosted, allow) => {
    const { rates, calls } = ratesOf();
    const exchange = exchangeOf({ method: 'PATCH', url }, {}, isHosted ? {} : { host: undefined });
    const error = await errorOf(() => checkTarget(exchange, { routes, rates }));
    expect(error).toMatchObject({ kind: 'methodNotAllowed', headers: { allow } });
    expect(calls).toHaveLength(1);
  });

  it('on a host that is not served is a 404, whatever its path', async () => {
    const { rates, calls } = ratesOf();
    const exchange = exchangeOf({ url: '/%ff' }, {}, { host: undefined });
    const { kind, code, message } = await errorOf(() => checkTarget(exchange, { routes, rates }));
    expect([kind, code, message]).toEqual([
      'notFound',
      'NotFound',
      expect.stringMatching(/^This host is not served: /),
    ]);
    expect(calls).toHaveLength(1);
  });

  it.each(['/v1/%ff', 'http://acme.example/%C3%28?x'])('with a path that is not UTF-8 is a 400: %s', async (url) => {
    const exchange = exchangeOf({ url });
    const { rates, calls } = ratesOf();
    const error = await errorOf(() => checkTarget(exchange, { routes, rates }));
    expect(error).toMatchObject({ kind: 'invalid', details: [{ param: 'path', location: 'params' }] });
    expect(calls).toHaveLength(1);
    expect((await errorOf(() => checkTarget(exchange, { routes, ...ratesOf(EXCEEDED) }))).kind).toBe('tooManyRequests');
  });

  it('may have any query', () => {
    expect(checkTarget(exchangeOf({ url: '/v1/things/7?a=%ff' }), { routes, ...ratesOf() })).toBeUndefined();
  });
});
