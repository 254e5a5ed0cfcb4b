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
    expect(routes.byApi.auth.find('GET', '/v1/tokens')?.plan.operation).toBe(served[1]);
    expect(routes.byApi.tenant.find('GET', '/v1/tokens')).toBeUndefined();
    expect(routes.byApi.tenant.allowed('/v1/things/7')).toEqual(['GET', 'HEAD']);
  });

  it.each(['management', 'auth', 'tenant', 'custom-domain', 'contexts'] as const)(
    'of the host kind %s are found',
    (api) => {
      const operation = operationOf({ http: { ...http, hosts: [api] } }) as Operation;
      const made = new Routes(hosts, { operationTimeoutMs: 5000 } as PlatformConfig, [operation]);
      expect(made.byApi[api].find('GET', '/v1/tokens')?.plan.operation).toBe(operation);
      for (const other of ['management', 'tenant'] as const)
        if (other !== api) expect(made.byApi[other].find('GET', '/v1/tokens')).toBeUndefined();
    },
  );

  it('are refused at boot when the shape of a request cannot be checked', () => {
    class Empty {}
    const operation = operationOf({ body: Empty }) as Operation;
    expect(() => new Routes(hosts, { operationTimeoutMs: 5000 } as PlatformConfig, [operation])).toThrow(
      'dids.list-dids: shapes: Empty has no members',
    );
  });

  it('determine the shape of errors before the host is looked up', () => {
    const on = (hostHeader: string, url: string) => {
      const exchange = exchangeOf({ url }, {}, { hostHeader });
      return [routes.expectedShape(exchange).errors, routes.expectedShape(exchange) === exchange.shape];
    };
    expect(on('auth.example', '/v1/tokens')).toEqual(['oauth', false]);
    // Without a route it stays what it was.
    expect(on('acme.example', '/v1/tokens')).toEqual(['tenant', true]);
  });
});
