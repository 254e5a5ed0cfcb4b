import { managementAccess } from '@attestry/contracts';
import {
  errorOf,
  EXCEEDED,
  exchangeOf,
  operationOf,
  ratesOf,
  replyOf,
  unread,
} from '../pipeline/exchange.spec-fixture.js';
import { Router } from '../pipeline/router.js';
import { corsPreflight } from './cors-preflight.js';
import { passes } from './plugins.spec-fixture.js';

const http = { method: 'POST' as const, path: '/v1/things/:id', success: 200 };
const router = new Router('tenant', [operationOf(), operationOf({ http, access: managementAccess })], 5000);
const routes = { byApi: { tenant: router } } as never;
const health = { isClosing: false } as never;
const preflight = async (exchange: ReturnType<typeof exchangeOf>, limits = ratesOf()) => {
  const passed = await passes(corsPreflight({ routes, health, unread, rates: limits.rates }), exchange);
  return { passed, reply: replyOf(exchange), calls: limits.calls };
};

describe('OPTIONS', () => {
  it('lists all methods of the path, and only the public ones for other origins', async () => {
    const { reply, calls } = await preflight(exchangeOf({ method: 'OPTIONS' }));
    expect([reply.status, calls.length]).toEqual([204, 1]);
    expect(reply.kept).toMatchObject({
      allow: 'GET, HEAD, POST, OPTIONS',
      'access-control-allow-methods': 'GET, HEAD',
      'cache-control': 'no-store',
    });
  });

  it('is a 429 for an address over its limit', async () => {
    const call = () => preflight(exchangeOf({ method: 'OPTIONS' }), ratesOf(EXCEEDED));
    expect((await errorOf(call)).kind).toBe('tooManyRequests');
  });

  it('of a path without methods, and other methods, are left to the pipeline', async () => {
    const limits = ratesOf();
    expect((await preflight(exchangeOf({ method: 'OPTIONS', url: '/none' }), limits)).passed).toBe(true);
    expect((await preflight(exchangeOf(), limits)).passed).toBe(true);
    expect(limits.calls).toEqual([]);
  });
});
