import { AppError, holderAccess, managementAccess } from '@attestry/contracts';
import { errorOf, exchangeOf, NOW, operationOf, ratesOf } from './exchange.spec-fixture.js';
import { findRoute } from './find-route.js';
import { Router } from './router.js';

const http = (path: string) => ({ method: 'GET' as const, path, success: 200 });
const router = new Router(
  'tenant',
  [
    operationOf({ errors: 'oauth', timeoutMs: 60_000 }),
    operationOf({ http: http('/v1/held'), access: holderAccess }),
    operationOf({ http: http('/v1/guarded'), access: managementAccess }),
  ],
  5000,
);
const unknown = { notFound: (_host: unknown, path: string) => new AppError('notFound', `unknown: ${path}`) };
const routes = { byApi: { tenant: router }, unknown } as never;
const unrouted = (url: string, method = 'GET') =>
  exchangeOf({ method, url }, {}, { plan: undefined, params: undefined, caller: undefined, context: undefined });

describe('a request whose path and method an operation has', () => {
  it('gets its plan: parameters, shape of errors, deadline', () => {
    const exchange = unrouted('/v1/things/a%20b');
    expect(findRoute(exchange, { routes, ...ratesOf() })).toBeUndefined();
    expect(exchange.params).toEqual({ id: 'a b' });
    expect(exchange.plan.errors).toBe('oauth');
    expect(exchange.shape).toBe(exchange.plan);
    expect(exchange.deadline).toBe(NOW + 60_000);
  });

  it.each([
    ['/v1/things/7', { kind: 'public' }],
    ['/v1/held', { kind: 'holder' }],
    ['/v1/guarded', undefined],
  ])('to %s has the caller %j before a token is read', (url, caller) => {
    const exchange = unrouted(url);
    void findRoute(exchange, { routes, ...ratesOf() });
    expect(exchange.caller).toEqual(caller);
  });

  it('uses the plan of GET for HEAD', () => {
    const exchange = unrouted('/v1/held', 'HEAD');
    void findRoute(exchange, { routes, ...ratesOf() });
    expect(exchange.deadline).toBe(NOW + 5000);
  });
});

describe('a request for a document of a deleted tenant', () => {
  const of = (ended: 'deleted' | 'purged') => {
    const exchange = unrouted('/v1/held');
    exchange.host = { ...exchange.host, ended };
    return exchange;
  };

  it('gets its plan until the tenant is purged', () => {
    const exchange = of('deleted');
    expect(findRoute(exchange, { routes, ...ratesOf() })).toBeUndefined();
    expect(exchange.shape).toBe(exchange.plan);
  });

  it('is a 410 from then on in the shape of its operation, counted as a public call', async () => {
    const limits = ratesOf();
    const exchange = of('purged');
    const error = await errorOf(() => findRoute(exchange, { routes, ...limits }));
    expect([error.kind, error.message]).toEqual(['gone', 'Gone: the tenant was deleted, and its data was erased']);
    expect([limits.calls.length, exchange.shape]).toEqual([1, exchange.plan]);
  });
});

describe('a request without an operation', () => {
  it('is a 405 with the methods of its path, counted as a public call', async () => {
    const limits = ratesOf();
    const exchange = unrouted('/v1/held', 'PUT');
    const error = await errorOf(() => findRoute(exchange, { routes, ...limits }));
    expect(error).toMatchObject({ kind: 'methodNotAllowed', headers: { allow: 'GET, HEAD' } });
    expect([limits.calls.length, exchange.plan]).toEqual([1, undefined]);
  });

  it('is a 404 when the path has none, counted as a public call', async () => {
    const limits = ratesOf();
    const error = await errorOf(() => findRoute(unrouted('/v1/held/x'), { routes, ...limits }));
    expect([error.kind, error.message, limits.calls.length]).toEqual(['notFound', 'unknown: /v1/held/x', 1]);
  });
});
