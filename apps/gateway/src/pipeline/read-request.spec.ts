import { holderAccess, publicAccess, requires } from '@attestry/contracts';
import { errorOf, exchangeOf } from './exchange.spec-fixture.js';
import { readRequest } from './read-request.js';

class Body {}
const JSON_TYPE = { 'content-type': 'application/json' };
const post = { method: 'POST' as const, path: '/x', success: 200 };

describe('the request of an operation', () => {
  it('has the parameters of the path, the query and the parsed body', () => {
    const sent = { method: 'POST', url: '/x?a=1&a=2&b=%20', headers: JSON_TYPE, body: '{"c":3}' };
    expect(readRequest(exchangeOf(sent, { http: post, body: Body }))).toEqual({
      params: { id: '7' },
      query: { a: ['1', '2'], b: ' ' },
      body: { c: 3 },
    });
  });

  it('without query and body has empty objects', () => {
    expect(readRequest(exchangeOf())).toEqual({ params: { id: '7' }, query: {}, body: {} });
  });

  it('that is raw contains the bytes as sent, and is not parsed', () => {
    const headers = { 'content-type': 'text/plain', 'x-two': ['a', 'b'] };
    const sent = { method: 'POST', url: '/x?a=1', headers, body: '{' };
    expect(readRequest(exchangeOf(sent, { http: { ...post, body: 'raw' } }))).toEqual({
      params: { id: '7' },
      query: { a: '1' },
      body: {},
      raw: {
        method: 'POST',
        url: '/x?a=1',
        headers: { 'content-type': 'text/plain', 'x-two': 'a, b' },
        text: '{',
      },
    });
  });

  describe('of a client or a member', () => {
    const declared = { http: post, body: Body, access: requires('dids:create') };
    const sent = (headers: Record<string, string | string[]>) =>
      exchangeOf({ method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: '{}' }, declared);

    it('is strict: unknown members will be refused', () => {
      for (const prefer of [undefined, 'handling=strict', 'return=minimal']) {
        const exchange = sent({ ...(prefer && { prefer }) });
        expect(readRequest(exchange)).toEqual({ params: { id: '7' }, query: {}, body: {}, strict: true });
        expect(exchange.isLenient).toBe(false);
      }
    });

    it('is not strict with Prefer: handling=lenient (RFC 7240)', () => {
      const exchange = sent({ prefer: ['return=minimal', 'handling=lenient'] });
      expect(readRequest(exchange)).toEqual({ params: { id: '7' }, query: {}, body: {} });
      expect(exchange.isLenient).toBe(true);
    });
  });

  it.each([
    ['without credentials', { access: publicAccess }],
    ['by a wallet', { access: holderAccess }],
    ['that is a token call of a client', { access: publicAccess, rate: 'client-token' as const }],
  ])('%s is never strict and ignores Prefer', (_what, declared) => {
    const exchange = exchangeOf({ headers: { prefer: 'handling=lenient' } }, declared);
    expect(readRequest(exchange)).not.toHaveProperty('strict');
    expect(exchange.isLenient).toBe(false);
  });

  it('takes client credentials from the header only in token calls', () => {
    const sent = { method: 'POST', headers: { ...JSON_TYPE, authorization: 'Basic YTpi' }, body: '{"c":3}' };
    expect(readRequest(exchangeOf(sent, { http: post, body: Body })).body).toEqual({ c: 3 });
    expect(readRequest(exchangeOf(sent, { http: post, body: Body, rate: 'client-token' })).body).toEqual({
      c: 3,
      client_id: 'a',
      client_secret: 'b',
    });
  });

  it('is parsed once', () => {
    const exchange = exchangeOf({ method: 'POST', headers: JSON_TYPE, body: '{}' }, { http: post, body: Body });
    expect(readRequest(exchange).body).toBe(readRequest(exchange).body);
  });

  it.each([
    ['a query that is not UTF-8', exchangeOf({ url: '/x?a=%ff' }), 'invalid'],
    [
      'a body of another type',
      exchangeOf({ headers: { 'content-type': 'text/plain' }, body: 'x' }, { http: post, body: Body }),
      'unsupportedMediaType',
    ],
    [
      'a body that does not parse',
      exchangeOf({ headers: JSON_TYPE, body: '{' }, { http: post, body: Body }),
      'invalid',
    ],
    [
      'a raw form that is not UTF-8',
      exchangeOf(
        { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=%ff' },
        { http: { ...post, body: 'raw' } },
      ),
      'invalid',
    ],
    [
      'a raw body that is not UTF-8',
      exchangeOf({ body: Buffer.from([0xff]) }, { http: { ...post, body: 'raw' } }),
      'invalid',
    ],
  ])('with %s is refused', async (_what, exchange, kind) => {
    expect((await errorOf(() => readRequest(exchange))).kind).toBe(kind);
  });

  it('with an invalid idempotency key is refused first', async () => {
    const exchange = exchangeOf({ url: '/x?a=%ff' });
    exchange.context.idempotencyKey = 'a b';
    expect(JSON.stringify((await errorOf(() => readRequest(exchange))).details)).toContain('Idempotency-Key');
  });
});
