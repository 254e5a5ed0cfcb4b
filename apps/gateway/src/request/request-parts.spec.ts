import fc from 'fast-check';
import { OPERATIONS, type Api, type AppError, type Operation } from '@attestry/contracts';
import { checkRequest } from '@attestry/service-kit';
import { hasOpenValues } from '../operation/open-values.js';
import { parseBody } from '../operation/parse-body.js';
import { Router } from '../pipeline/router.js';
import { readableUrl } from '../server/readable-url.js';
import { forwarded, rateKeyOf, TrustedProxies } from './client-address.js';
import { newRequestId } from './request-id.js';

describe('request ids', () => {
  it('are 22 base62 characters and unique', () => {
    const ids = Array.from({ length: 5000 }, newRequestId);
    for (const id of ids) expect(id).toMatch(/^[0-9A-Za-z]{22}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('use all characters about equally', () => {
    const counts = new Map<string, number>();
    for (const character of Array.from({ length: 5000 }, newRequestId).join(''))
      counts.set(character, (counts.get(character) ?? 0) + 1);
    const expected = (5000 * 22) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.2);
  });
});

describe('the client address', () => {
  const none = new TrustedProxies([]);
  const proxies = new TrustedProxies(['10.0.0.0/8', '::1', '127.0.0.1']);

  it('is the socket, whatever an untrusted client forwards', () => {
    const headers = { host: 'a.example', 'x-forwarded-for': '1.2.3.4', 'x-forwarded-host': 'b.example' };
    expect(forwarded('203.0.113.9', headers, none)).toEqual({
      address: '203.0.113.9',
      host: 'a.example',
      isForwarded: false,
    });
    expect(forwarded('203.0.113.9', headers, proxies)).toEqual({
      address: '203.0.113.9',
      host: 'a.example',
      isForwarded: false,
    });
  });

  it('is the last address that is not a trusted proxy', () => {
    const headers = { host: 'a.example', 'x-forwarded-for': '6.6.6.6, 198.51.100.7, 10.1.2.3' };
    expect(forwarded('127.0.0.1', headers, proxies).address).toBe('198.51.100.7');
    expect(forwarded('::ffff:127.0.0.1', headers, proxies).address).toBe('198.51.100.7');
  });

  it.each([
    ['198.51.100.7:4711', '198.51.100.7'],
    ['[2001:db8::7]:4711', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
    ['[::ffff:198.51.100.7]:4711', '198.51.100.7'],
    ['198.51.100.7, 10.1.2.3:4711', '198.51.100.7'],
  ])('is read with and without a port: %s', (hops, address) => {
    const headers = { host: 'a.example', 'x-forwarded-for': `6.6.6.6, ${hops}` };
    expect(forwarded('10.1.1.1', headers, proxies).address).toBe(address);
  });

  it.each(['unknown', '_hidden', '', '198.51.100.7:x', '[198.51.100.7', '2001:db8::7]:1', '198.51.100.7:1:2'])(
    'is that of the last proxy when a hop is not an address: "%s"',
    (hop) => {
      const of = (hops: string) => forwarded('10.1.1.1', { 'x-forwarded-for': hops }, proxies).address;
      expect(of(`6.6.6.6, ${hop}`)).toBe('10.1.1.1');
      expect(of(`6.6.6.6, ${hop}, 10.1.2.3`)).toBe('10.1.2.3');
    },
  );

  it('uses the forwarded host only of a trusted proxy', () => {
    const headers = { host: 'inside', 'x-forwarded-host': 'acme.example' };
    expect(forwarded('10.1.1.1', headers, proxies).host).toBe('acme.example');
    expect(forwarded('11.1.1.1', headers, proxies).host).toBe('inside');
  });

  it('uses the trace only of a trusted proxy, and only a valid one', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const headers = { host: 'a.example', traceparent };
    expect(forwarded('10.1.1.1', headers, proxies).traceparent).toBe(traceparent);
    expect(forwarded('203.0.113.9', headers, proxies)).toEqual({
      address: '203.0.113.9',
      host: 'a.example',
      isForwarded: false,
    });
    const zeros = `00-${'0'.repeat(32)}-b7ad6b7169203331-01`;
    for (const invalid of [zeros, `${traceparent}-x`, 'ff-x'])
      expect(forwarded('10.1.1.1', { ...headers, traceparent: invalid }, proxies)).not.toHaveProperty('traceparent');
  });

  it('counts a /64 of IPv6 as one', () => {
    expect(rateKeyOf('2001:db8:1:2::1')).toBe(rateKeyOf('2001:db8:1:2:ffff::9'));
    expect(rateKeyOf('2001:db8:1:2::1')).not.toBe(rateKeyOf('2001:db8:1:3::1'));
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (address, header) => {
        forwarded(address === '' ? '127.0.0.1' : '127.0.0.1', { 'x-forwarded-for': header }, proxies);
      }),
    );
  });
});

describe('the router', () => {
  const routerOf = (api: Api) => new Router(api, OPERATIONS, 1000);
  const http = OPERATIONS.filter((operation) => operation.http);

  it.each(http.map((operation) => [operation.name, operation] as const))('finds %s', (_name, operation) => {
    for (const api of operation.http!.hosts ?? ['tenant'])
      for (const declared of [operation.http!.path, ...(operation.http!.alsoAt ?? [])]) {
        const path = declared.replace(/^\*/, '/some/where').replace(/:[A-Za-z]+/g, 'x');
        expect(routerOf(api).find(operation.http!.method, path)?.plan.operation.name).toBe(operation.name);
      }
  });

  it('returns the methods of a known path and none of an unknown one', () => {
    const router = routerOf('tenant');
    expect(router.allowed('/v1/webhooks/x')).toEqual(['GET', 'HEAD', 'PUT', 'DELETE']);
    expect(router.allowed('/v1/webhooks/x/y')).toEqual([]);
    expect(router.find('GET', '/v1/tenants')).toBeUndefined();
  });

  it('prefers a fixed path to a parameter', () => {
    expect(routerOf('tenant').find('GET', '/v1/webhooks/jwks')?.plan.operation.name).toBe(
      'webhooks.retrieve-webhook-keys',
    );
  });

  it('decodes a DID in the path, once', () => {
    const found = routerOf('tenant').find('GET', `/v1/dids/${encodeURIComponent('did:web:a.example%3A8080')}`);
    expect(found?.params).toEqual({ id: 'did:web:a.example%3A8080' });
  });
});

describe('bodies', () => {
  const operation = OPERATIONS.find(({ name }) => name === 'dids.create-did') as Operation;
  const parse = (text: string, type: string | undefined = 'application/json') =>
    parseBody(operation, type, Buffer.from(text));
  /** Parses for an operation whose body has no values that are stored unchanged. */
  const parseClosed = (text: string) =>
    parseBody(
      OPERATIONS.find(({ name }) => name === 'webhooks.create-webhook')!,
      'application/json',
      Buffer.from(text),
    );

  it('are JSON, with or without charset', () => {
    expect(parse('{"a":1}', 'application/json; charset=utf-8')).toEqual({ a: 1 });
  });

  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', ''])(
    'of type %p are a 415',
    (type) => {
      expect(() => parse('{}', type)).toThrow(expect.objectContaining({ kind: 'unsupportedMediaType' }) as Error);
    },
  );

  it.each([
    ['', 'it is empty'],
    ['{"a":1,}', 'a comma before } at line 1, column 8'],
    ['{', 'it ends too early, at line 1, column 2'],
    ['{"a":}', 'unexpected character at line 1, column 6'],
    ['{"password":"x",\n"secret": hunter2}', 'unexpected character at line 2, column 11'],
    ['\u0000', 'unexpected character at line 1, column 1'],
  ])('that do not parse are a 400 with the position: %j [T651]', (text, position) => {
    const details = [{ msg: `must be valid JSON: ${position}`, param: 'body', location: 'body' }];
    expect(() => parse(text)).toThrow(expect.objectContaining({ kind: 'invalid', details }) as Error);
  });

  it.each([100, 10_000, 400_000])('nested %i levels deep are a 400', (depth) => {
    expect(() => parse('['.repeat(depth) + ']'.repeat(depth))).toThrow(
      expect.objectContaining({ kind: 'invalid' }) as Error,
    );
  });

  it.each(['"\\ud800"', '{"a":["x\\uDFFFy"]}', '{"a":{"\\uD83d":1}}'])(
    'with a lone surrogate are a 400 on body: %s',
    (text) => {
      const details = [{ msg: 'must be well-formed Unicode', param: 'body', location: 'body' }];
      expect(() => parse(text)).toThrow(expect.objectContaining({ kind: 'invalid', details }) as Error);
    },
  );

  it.each(['1e999', '{"a":[-1E+0400]}', `[${'9'.repeat(250)}e99]`, '9'.repeat(400)])(
    'with a number that no double can hold are a 400 on body: %.20s [T488]',
    (text) => {
      const msg = 'must have only numbers in the range of a double (RFC 8259 §6)';
      const details = [{ msg, param: 'body', location: 'body' }];
      expect(() => parseClosed(text)).toThrow(expect.objectContaining({ kind: 'invalid', details }) as Error);
    },
  );

  it('may contain large numbers, and text that resembles them', () => {
    expect(parseClosed('[1e308,1e-999,"1e999"]')).toEqual([1e308, 0, '1e999']);
  });

  it('may contain surrogate pairs and text that resembles an escape', () => {
    expect(parse('{"\\ud83d\\ude00":"\\\\ud800"}')).toEqual({ '😀': '\\ud800' });
  });

  const member = (body: unknown, name: string): unknown => (body as Record<string, unknown>)[name];

  it('cannot reach a prototype', () => {
    const body = parse('{"__proto__":{"admin":true},"options":{"__proto__":{"b":1}}}');
    expect([member(body, 'admin'), member(member(body, 'options'), 'b'), member({}, 'admin')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const request = { params: {}, query: {}, body: { ...(body as object), method: 'key' } };
    const details = [expect.objectContaining({ msg: 'must not have a member named __proto__', param: 'options' })];
    expect(() => checkRequest(operation, request)).toThrow(expect.objectContaining({ details }) as Error);
  });

  it('with claims have only numbers that are signed as they were sent; paths are named [T608]', () => {
    const named = (name: string, text: string) => {
      try {
        return parseBody(
          OPERATIONS.find((one) => one.name === name)!,
          'application/json',
          Buffer.from(text),
        );
      } catch (error) {
        return (error as AppError).details!.map(({ param }) => param);
      }
    };
    const text = '{"claims":{"a":[{"b":12345678901234567891}],"c":1e400},"ok":[1.0,1e2,0.1,-0]}';
    for (const name of [
      'create-user',
      'update-user',
      'create-offer',
      'create-pre-authorized-offer',
      'create-claim-source',
    ])
      expect(named(`issuance.${name}`, text)).toEqual(['claims.a.0.b', 'claims.c']);
    expect(named('issuance.create-user', '{"a":[1.0,1e2,0.1,-0]}')).toEqual({ a: [1, 100, 0.1, -0] });
    expect(named('webhooks.create-webhook', '{"a":12345678901234567891}')).toEqual({ a: 12345678901234567000 });
    const open = OPERATIONS.filter(hasOpenValues).map(({ http }) => `${http!.method} ${http!.path}`);
    const configurations = ['web-semantic', 'jwt-vc', 'sd-jwt', 'compact', 'compact-semantic', 'mobile'].flatMap(
      (format) => [`POST /v2/credentials/${format}/configurations`, `PUT /v2/credentials/${format}/configurations/:id`],
    );
    expect(open.sort()).toEqual(
      [
        ...configurations,
        ...['POST /v1/users', 'PUT /v1/users/:id', 'POST /v1/users/search'],
        ...['POST /v1/openid/offers', 'POST /v1/openid/offers/pre-authorized'],
        ...['POST /v1/claim-sources', 'PUT /v1/claim-sources/:id'],
        ...['POST /v1/users/authentication-providers', 'PUT /v1/users/authentication-providers/:id'],
        'POST /v1/dids',
      ].sort(),
    );
  });

  it('name a constructor as any other member', () => {
    const text = '{"constructor":1,"method":"key","options":{"\\u0063onstructor":{"prototype":{}},"b":1}}';
    const { body: checked } = checkRequest(operation, { params: {}, query: {}, body: parse(text) });
    expect(JSON.stringify(checked)).toBe('{"method":"key","options":{"constructor":{"prototype":{}},"b":1}}');
  });

  it('that are too deep are refused as such, also with a dropped name', () => {
    const deep = `{"__proto__":1,"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect(() => parse(deep)).toThrow(expect.objectContaining({ kind: 'invalid' }) as Error);
  });
});

describe('the target of a request', () => {
  it.each([
    ['/v1/dids/did%3Aweb%3Aa', '/v1/dids/did%3Aweb%3Aa'],
    ['/v1/dids?x=%', '/v1/dids?x=%'],
    ['http://a.example/v1/dids?x=1', '/v1/dids?x=1'],
    ['HTTPS://a.example', '/'],
    ['http://a.example?x=/v1/dids', '/?x=/v1/dids'],
    ['*', '/**'],
    ['v1/dids', '/*v1/dids'],
    ['?x', '/*?x'],
    ['/v1/dids%', '/v1/dids%25'],
    ['/v1/dids/100%25%zz?limit=%', '/v1/dids/100%25%25zz?limit=%'],
    ['/v1/dids/%ff', '/v1/dids/%25ff'],
    ['/%ed%a0%80%', '/%25ed%25a0%2580%25'],
  ])('%s reaches the pipeline as %s', (sent, read) => {
    expect(readableUrl({ url: sent })).toBe(read);
  });

  it('can always be decoded', () => {
    const text = fc.string({ unit: fc.constantFrom('%', '2', '5', 'f', 'F', 'z', '/', '?', 'e', 'd', 'a', '0') });
    fc.assert(
      fc.property(text, (sent) => {
        const path = readableUrl({ url: `/${sent}` }).split('?', 1)[0]!;
        expect(() => decodeURI(path)).not.toThrow();
      }),
    );
  });
});
