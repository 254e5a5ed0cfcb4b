import { unavailable } from '@attestry/contracts';
import { errorOf, EXCEEDED, exchangeOf, HOST, NOW, operationOf, ratesOf } from './exchange.spec-fixture.js';
import { resolveHost } from './resolve-host.js';
import { Router } from './router.js';

const shape = { errors: 'oauth' as const, corsHeaders: {} };
const routes = { expectedShape: () => shape } as never;
const found = { api: 'tenant' as const, publicUrl: `https://${HOST}` };
type Resolve = (header: unknown, deadline: number, beforeLookUp: () => Promise<void>) => unknown;
const hosts = (resolve: Resolve) => ({ resolve }) as never;

describe('the host', () => {
  it.each([[found], [undefined]])('is resolved by the tenant directory: %j', async (host) => {
    const exchange = exchangeOf({}, {}, { host: undefined });
    const before = exchange.shape;
    const calls: unknown[] = [];
    const resolve: Resolve = async (...args) => {
      calls.push(...args.slice(0, 2));
      return host;
    };
    await resolveHost(exchange, { hosts: hosts(resolve), routes, ...ratesOf() });
    expect([exchange.host, exchange.shape]).toEqual([host, before]);
    expect(calls).toEqual([HOST, NOW + 1000]);
  });

  it('in the cache is resolved synchronously', () => {
    const exchange = exchangeOf({}, {}, { host: undefined });
    expect(resolveHost(exchange, { hosts: hosts(() => found), routes, ...ratesOf() })).toBeUndefined();
    expect(exchange.host).toBe(found);
  });

  it.each([
    ['GET', '/v1/lists/7', true],
    ['HEAD', '/v1/lists/7', true],
    ['OPTIONS', '/v1/lists/7', true],
    ['PUT', '/v1/lists/7', false],
    ['GET', '/v1/things/7', false],
    ['GET', '/v1/nothing', false],
    ['GET', '/', false],
  ])('of a deleted tenant is known for what outlives it: %s %s', async (method, url, isKnown) => {
    const path = '/v1/lists/:id';
    const declared = [
      operationOf(),
      operationOf({ http: { method: 'GET', path, success: 200, afterDeletion: true } }),
      operationOf({ http: { method: 'PUT', path, success: 200 } }),
    ];
    const byApi = { tenant: new Router('tenant', declared, 5000) };
    for (const ended of ['deleted', 'purged'] as const)
      for (const answer of [{ ...found, ended }, Promise.resolve({ ...found, ended })]) {
        const exchange = exchangeOf({ method, url }, {}, { host: undefined });
        await resolveHost(exchange, { hosts: hosts(() => answer), routes: { byApi } as never, ...ratesOf() });
        expect(exchange.host).toEqual(isKnown ? { ...found, ended } : undefined);
      }
  });

  it('is looked up only for an address below its limit; errors have the shape of the route', async () => {
    const looked: string[] = [];
    const resolve: Resolve = async (_header, _deadline, beforeLookUp) => {
      await beforeLookUp();
      looked.push('up');
      throw unavailable('management is away');
    };
    const run = async (limits: ReturnType<typeof ratesOf>) => {
      const exchange = exchangeOf();
      const error = await errorOf(() => resolveHost(exchange, { hosts: hosts(resolve), routes, ...limits }));
      expect(exchange.shape).toBe(shape);
      return error.kind;
    };
    expect(await run(ratesOf(EXCEEDED))).toBe('tooManyRequests');
    expect(looked).toEqual([]);
    const limits = ratesOf();
    expect(await run(limits)).toBe('unavailable');
    expect([looked, limits.calls]).toEqual([['up'], [['publicCalls', '192.0.2.1']]]);
  });
});
