import { operationOf } from './exchange.spec-fixture.js';
import { Router } from './router.js';

const http = (path: string, more: object = {}) => ({ method: 'GET' as const, path, success: 200, ...more });
const router = new Router(
  'tenant',
  [
    operationOf(),
    operationOf({ http: http('/v1/did.json', { alsoAt: ['*/did.json', '/v1/also'] }) }),
    operationOf({ http: http('*/did.json', { method: 'PUT' }) }),
    operationOf({ http: http('/v1/elsewhere', { hosts: ['contexts'] }) }),
  ],
  5000,
);
const methodOf = (method: string, path: string) => router.find(method, path)?.plan.operation.http?.method;

describe('a route', () => {
  it('is found by method and path', () => {
    expect(router.find('GET', '/v1/things/a%20b')?.params).toEqual({ id: 'a b' });
    for (const path of ['/v1/did.json', '/v1/also']) expect(methodOf('GET', path)).toBe('GET');
    expect(router.find('POST', '/v1/things/7')).toBeUndefined();
    expect(router.find('GET', '/v1/elsewhere')).toBeUndefined();
  });

  it('with a literal segment has precedence over one with a parameter, for every method [T802]', () => {
    const things = (method: string, path: string) => operationOf({ http: http(path, { method }) });
    const routes = new Router(
      'tenant',
      [
        things('GET', '/v1/things/:id'),
        things('DELETE', '/v1/things/:thingId'),
        things('POST', '/v1/things/search'),
        things('GET', '/v1/things/:id/parts/:part'),
        things('DELETE', '/v1/things/search/parts/:name'),
      ],
      5000,
    );
    expect(routes.allowed('/v1/things/search')).toEqual(['POST']);
    expect(routes.find('DELETE', '/v1/things/search')).toBeUndefined();
    expect(routes.find('HEAD', '/v1/things/search')).toBeUndefined();
    expect(routes.allowed('/v1/things/7')).toEqual(['GET', 'HEAD', 'DELETE']);
    expect(routes.find('DELETE', '/v1/things/7')?.params).toEqual({ thingId: '7' });
    expect(routes.find('GET', '/v1/things/7')?.params).toEqual({ id: '7' });
    expect(routes.allowed('/v1/things/search/parts/1')).toEqual(['DELETE']);
    expect(routes.find('GET', '/v1/things/7/parts/1')?.params).toEqual({ id: '7', part: '1' });
  });

  it('is declared once', () => {
    const twice = [operationOf({ http: http('/v1/things/:a') }), operationOf({ http: http('/v1/things/:b') })];
    expect(() => new Router('tenant', twice, 5000)).toThrow('GET /v1/things/:b is declared twice');
  });

  it('of GET answers HEAD', () => {
    for (const path of ['/v1/things/7', '/a/did.json']) expect(methodOf('HEAD', path)).toBe('GET');
  });

  it('is found by the ending of the path, where it is declared so', () => {
    expect(router.find('GET', '/a/b/did.json')).toMatchObject({ params: {} });
    expect([methodOf('GET', '/a/did.json'), methodOf('PUT', '/a/did.json')]).toEqual(['GET', 'PUT']);
    expect(router.find('POST', '/a/did.json')).toBeUndefined();
    expect(router.find('GET', '/a/did.json/x')).toBeUndefined();
  });

  it('is case-sensitive, and has parameters of at most 2048 characters', () => {
    expect(router.find('GET', '/V1/things/7')).toBeUndefined();
    expect(router.find('GET', `/v1/things/${'a'.repeat(2048)}`)).toBeDefined();
    expect(router.find('GET', `/v1/things/${'a'.repeat(2049)}`)).toBeUndefined();
  });

  it('names the methods of its path', () => {
    expect(router.allowed('/a/did.json')).toEqual(['GET', 'HEAD', 'PUT']);
    expect(router.allowed('/v1/nothing')).toEqual([]);
  });
});
