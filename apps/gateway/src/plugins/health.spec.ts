import { Health } from '@attestry/service-kit';
import { errorOf, exchangeOf, ratesOf, replyOf, unread } from '../pipeline/exchange.spec-fixture.js';
import { health } from './health.js';
import { passes } from './plugins.spec-fixture.js';

const state = new Health();
const plugin = () => {
  const { rates, calls } = ratesOf();
  return { calls, health: health({ rates, unread, health: state }) };
};

describe('health', () => {
  it.each(['GET', 'POST', 'PATCH'])('is answered for %s, and neither limited nor counted', async (method) => {
    const exchange = exchangeOf({ method, url: '/health/live?x' });
    const { calls, health: answers } = plugin();
    expect(await passes(answers, exchange)).toBe(false);
    expect(replyOf(exchange)).toMatchObject({ status: 200, sent: ['{"status":"live"}'] });
    expect(replyOf(exchange).kept).toMatchObject({ 'cache-control': 'no-store', 'x-ratelimit-remaining': 10 });
    expect([calls, exchange.observed, exchange.inFlight]).toEqual([[], { uncounted: true }, undefined]);
  });

  it('is not ready once the process drains', async () => {
    const exchange = exchangeOf({ url: '/health/ready' });
    await passes(plugin().health, exchange);
    expect(replyOf(exchange).status).toBe(200);
    state.close();
    const later = exchangeOf({ url: '/health/ready' });
    await passes(plugin().health, later);
    expect(replyOf(later)).toMatchObject({ status: 503, kept: { connection: 'close' } });
  });

  it('of a request that names two hosts is refused like any other', async () => {
    const exchange = exchangeOf({ url: '/health/live' });
    exchange.request.raw.rawHeaders.push('Host', 'b.example');
    const { calls, health: answers } = plugin();
    expect((await errorOf(() => passes(answers, exchange))).kind).toBe('invalid');
    expect(calls).toHaveLength(1);
  });

  it.each(['/health', '/health/live/', '/v1/health/live'])('is not served at %s', async (url) => {
    expect(await passes(plugin().health, exchangeOf({ url }))).toBe(true);
  });
});
