import { AppError } from '@attestry/contracts';
import type { FoundDocument } from '../documents/public-documents.js';
import { errorOf, exchangeOf, rate, unread } from './exchange.spec-fixture.js';
import { renderDocument } from './render-document.js';

const TEXT = Buffer.from('x'.repeat(200_000));
const GZIP = Buffer.from('gzip');
const HTTP = { method: 'GET' as const, path: '/x', success: 200, document: true as const, cacheControl: 'no-cache' };
const of = (over: Partial<FoundDocument> = {}): FoundDocument => ({
  kept: { digest: 'd', bytes: TEXT, isCompressible: true, gzipBytes: 0 },
  kind: 'json',
  headers: { vary: 'Accept', 'content-language': 'de' },
  ...over,
});
const rendered = async (headers: Record<string, string> = {}, document = of(), sent: object = {}) => {
  const exchange = exchangeOf({ headers, ...sent }, { http: HTTP }, { document });
  const counted: unknown[] = [];
  const countMore = (...args: unknown[]) => {
    counted.push(args);
    return rate();
  };
  const deps = { published: { gzipOf: async () => GZIP }, rates: { countMore }, unread } as never;
  await renderDocument(exchange, deps);
  return { ...exchange.answer!, counted };
};

describe('a public document', () => {
  it('has a strong ETag, and counts one call for each started 64 KiB', async () => {
    const { status, headers, body, counted } = await rendered();
    expect([status, body]).toEqual([200, TEXT]);
    expect(headers).toMatchObject({
      etag: '"d"',
      vary: 'Accept, Accept-Encoding',
      'cache-control': 'no-cache',
      'content-type': 'application/json; charset=utf-8',
      'content-language': 'de',
    });
    expect(headers).not.toHaveProperty('content-encoding');
    // The first of four is counted with the request.
    expect(counted).toEqual([['192.0.2.1', 3]]);
  });

  it('is compressed where the client prefers it, with another ETag', async () => {
    const { headers, body, counted } = await rendered({ 'accept-encoding': 'gzip' });
    expect([headers['content-encoding'], headers['etag'], body, counted]).toEqual(['gzip', '"d.gzip"', GZIP, []]);
  });

  it.each([
    [{ 'if-none-match': '"d"' }, '"d"'],
    [{ 'if-none-match': '"d.gzip"', 'accept-encoding': 'gzip' }, '"d.gzip"'],
  ])('that the client has is a 304 without content: %j', async (given, etag) => {
    const { status, headers, body, counted } = await rendered(given);
    expect([status, body, counted]).toEqual([304, undefined, []]);
    expect(headers).toEqual({
      etag,
      vary: 'Accept, Accept-Encoding',
      'cache-control': 'no-cache',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.any(String) as string,
    });
  });

  it('in another encoding is not what the client has', async () => {
    expect((await rendered({ 'if-none-match': '"d"', 'accept-encoding': 'gzip' })).status).toBe(200);
  });

  it('with an ETag of its own keeps it, and is not compressed', async () => {
    const document = of({ headers: { etag: '"own"' } });
    const { headers, body } = await rendered({ 'accept-encoding': 'gzip' }, document);
    expect([headers['etag'], headers['vary'], headers['content-encoding'], body]).toEqual([
      '"own"',
      undefined,
      undefined,
      TEXT,
    ]);
    expect((await rendered({ 'if-none-match': '"own"' }, document)).status).toBe(304);
  });

  it('for HEAD counts no bytes', async () => {
    const { status, counted } = await rendered({}, of(), { method: 'HEAD' });
    expect([status, counted]).toEqual([200, []]);
  });

  it('is a 429 for an address that has not read others', async () => {
    const exchange = exchangeOf({}, { http: HTTP }, { document: of() });
    const reserve = async (address: string, _response: object, bytes: number) => {
      throw new AppError('tooManyRequests', `${address} ${bytes}`);
    };
    const deps = { published: {}, rates: {}, unread: { reserve } } as never;
    const error = await errorOf(() => renderDocument(exchange, deps));
    expect([error.kind, error.message]).toEqual(['tooManyRequests', '192.0.2.1 200000']);
    expect(exchange.answer).toBeUndefined();
  });

  it('may be another result', async () => {
    const exchange = exchangeOf({}, { http: HTTP }, { result: { a: 1 } });
    await renderDocument(exchange, {} as never);
    expect(exchange.answer).toMatchObject({ status: 200, body: '{"a":1}' });
  });
});
