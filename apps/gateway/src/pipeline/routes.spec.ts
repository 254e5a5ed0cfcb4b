import type { Operation } from '@attestry/contracts';
import type { PlatformConfig } from '@attestry/service-kit';
import { exchangeOf, operationOf } from './exchange.spec-fixture.js';
import { Routes } from './routes.js';

const http = { method: 'GET' as const, path: '/v1/tokens', success: 200, hosts: ['auth'] as const };
const served = [operationOf(), operationOf({ http, errors: 'oauth' })] as Operation[];
const hosts = { apiOf: (header: string) => (header === 'auth.example' ? 'auth' : 'tenant') } as never;
const routes = new Routes(hosts, { operationTimeoutMs: 5000 } as PlatformConfig, served);

describe('the routes', () => {
  it('are those of each kind of host', () => {
    expect(routes.routerOf('auth').find('GET', '/v1/tokens')?.plan.operation).toBe(served[1]);
    expect(routes.routerOf('tenant').find('GET', '/v1/tokens')).toBeUndefined();
    expect(routes.routerOf('tenant').allowed('/v1/things/7')).toEqual(['GET', 'HEAD']);
  });

  it('tell the shape of errors before the host is looked up', () => {
    const on = (hostHeader: string, url: string) => {
      const exchange = exchangeOf({ url }, {}, { hostHeader });
      return [routes.expectedShape(exchange).errors, routes.expectedShape(exchange) === exchange.shape];
    };
    expect(on('auth.example', '/v1/tokens')).toEqual(['oauth', false]);
    // Without a route it stays what it was.
    expect(on('acme.example', '/v1/tokens')).toEqual(['tenant', true]);
  });
});
