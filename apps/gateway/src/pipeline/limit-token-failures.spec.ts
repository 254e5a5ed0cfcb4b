import { errorOf, EXCEEDED, exchangeOf, rate, ratesOf } from './exchange.spec-fixture.js';
import { limitTokenFailures } from './limit-token-failures.js';

describe('failed token calls of an address', () => {
  it('are read and not counted', async () => {
    const state = rate();
    const { rates, calls } = ratesOf(state);
    const exchange = exchangeOf();
    await limitTokenFailures(exchange, { rates });
    expect([exchange.rate, calls]).toEqual([state, [['tokenFailures', '192.0.2.1']]]);
  });

  it('over the limit are a 429', async () => {
    expect((await errorOf(() => limitTokenFailures(exchangeOf(), ratesOf(EXCEEDED)))).kind).toBe('tooManyRequests');
  });
});
