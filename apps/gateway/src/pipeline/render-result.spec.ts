import { httpAnswer } from '@attestry/contracts';
import { exchangeOf } from './exchange.spec-fixture.js';
import { renderResult } from './render-result.js';

const rendered = (result: unknown, http: object = {}) => {
  const exchange = exchangeOf(
    {},
    { http: { method: 'GET', path: '/x', success: 201, ...http }, rate: 'api' },
    { result },
  );
  renderResult(exchange);
  return exchange.answer;
};
const NO_STORE = { 'cache-control': 'no-store' };
const JSON_TYPE = { ...NO_STORE, 'content-type': 'application/json; charset=utf-8' };

describe('a result', () => {
  it('is the body, with the declared status', () => {
    expect(rendered({ id: '7' })).toEqual({ status: 201, headers: JSON_TYPE, body: '{"id":"7"}' });
  });

  it.each([undefined, null, httpAnswer({})])('may be empty: %j', (result) => {
    expect(rendered(result)).toEqual({ status: 201, headers: NO_STORE, body: undefined });
  });

  it('may set status, headers and text', () => {
    const headers = { 'content-type': 'text/html', 'cache-control': 'max-age=1' };
    const answer = rendered(httpAnswer({ status: 400, headers, body: '<p>' }));
    expect(answer).toEqual({ status: 400, headers, body: '<p>' });
    expect(rendered(httpAnswer({ body: '' }))).toEqual({ status: 201, headers: NO_STORE, body: '' });
  });

  it('may set the media type of its JSON', () => {
    const headers = { 'content-type': 'application/jwk-set+json' };
    expect(rendered(httpAnswer({ headers, body: [1] }))).toEqual({
      status: 201,
      headers: { ...NO_STORE, ...headers },
      body: '[1]',
    });
  });

  it('may be bytes, of the media type that the operation declares', () => {
    const answer = rendered(httpAnswer({ headers: { etag: '"1"' }, base64: 'AP+A' }), {
      mediaType: 'application/pkix-crl',
    });
    expect(answer).toEqual({
      status: 201,
      headers: { ...NO_STORE, 'content-type': 'application/pkix-crl', etag: '"1"' },
      body: Buffer.from([0, 255, 128]),
    });
  });

  it('with 204 has no body, whatever was returned', () => {
    expect(rendered({ id: '7' }, { success: 204 })).toEqual({ status: 204, headers: NO_STORE, body: undefined });
    expect(rendered('text', { success: 204 })?.body).toBeUndefined();
  });

  it('has the caching and the media type that the operation declares', () => {
    expect(rendered({}, { cacheControl: 'public', mediaType: 'application/did+json' })?.headers).toEqual({
      'cache-control': 'public',
      'content-type': 'application/did+json',
    });
  });

  it('may be read by pages of other origins when the operation is public', () => {
    const exchange = exchangeOf({}, {}, { result: {} });
    renderResult(exchange);
    expect(exchange.answer?.headers).toMatchObject({ 'access-control-allow-origin': '*' });
  });
});
