import { TOKEN_EXCHANGE } from '@attestry/contracts';
import { errorOf, EXCEEDED, exchangeOf, rate, ratesOf } from './exchange.spec-fixture.js';
import { limitTokenCalls } from './limit-token-calls.js';
import { readBody } from './read-body.js';

class Body {}
const post = (text: string, headers: Record<string, string> = {}) =>
  exchangeOf(
    { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text },
    { http: { method: 'POST', path: '/oauth/token', success: 200 }, rate: 'client-token', body: Body },
  );

describe('token calls of a client id', () => {
  it('are read and not counted', async () => {
    const state = rate();
    const { rates, calls } = ratesOf(state);
    const exchange = post('{"client_id":"c"}');
    await limitTokenCalls(exchange, { rates });
    expect([exchange.rate, exchange.tokenClientId]).toEqual([state, 'c']);
    expect(calls).toEqual([['tokenCalls', 'c']]);
  });

  it('use the id in the Authorization header when the body has none', async () => {
    const { rates, calls } = ratesOf();
    const authorization = `Basic ${Buffer.from('h:secret').toString('base64')}`;
    const exchange = post('{"grant_type":"client_credentials"}', { authorization });
    await limitTokenCalls(exchange, { rates });
    expect(calls).toEqual([['tokenCalls', 'h']]);
    expect(readBody(exchange)).toEqual({ grant_type: 'client_credentials', client_id: 'h', client_secret: 'secret' });
    const twice = post('{"client_secret":"x"}', { authorization });
    expect((await errorOf(() => limitTokenCalls(twice, { rates }))).code).toBe('invalid_request');
  });

  it('have a bounded name', async () => {
    const exchange = post(JSON.stringify({ client_id: 'x'.repeat(1000) }));
    await limitTokenCalls(exchange, ratesOf());
    expect(exchange.tokenClientId).toBe('x'.repeat(128));
  });

  it.each(['{}', '{"client_id":7}', 'null', '[]'])('have no limit when the body has no client id: %s', async (text) => {
    const { rates, calls } = ratesOf();
    const exchange = post(text);
    await limitTokenCalls(exchange, { rates });
    expect([exchange.tokenClientId, calls]).toEqual([undefined, []]);
  });

  it('are not read for a token exchange, which is counted for its person', async () => {
    const { rates, calls } = ratesOf(EXCEEDED);
    const exchange = post(JSON.stringify({ client_id: 'c', grant_type: TOKEN_EXCHANGE }));
    await limitTokenCalls(exchange, { rates });
    expect([exchange.tokenClientId, calls]).toEqual([undefined, []]);
  });

  it('over the limit are a 429; a body that does not parse is a 400', async () => {
    const limits = ratesOf(EXCEEDED);
    expect((await errorOf(() => limitTokenCalls(post('{"client_id":"c"}'), limits))).kind).toBe('tooManyRequests');
    expect((await errorOf(() => limitTokenCalls(post('{'), limits))).kind).toBe('invalid');
  });
});
