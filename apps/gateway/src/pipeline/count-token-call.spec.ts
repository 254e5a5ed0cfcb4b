import { countTokenCall } from './count-token-call.js';
import { EXCEEDED, exchangeOf, ratesOf } from './exchange.spec-fixture.js';

describe('a token call with the right secret', () => {
  it('is counted for its client, and answered whatever remains of the limit', async () => {
    const { rates, calls } = ratesOf(EXCEEDED);
    const exchange = exchangeOf({}, {}, { tokenClientId: 'c' });
    await countTokenCall(exchange, { rates });
    expect([exchange.rate, calls]).toEqual([EXCEEDED, [['countTokenCall', 'c']]]);
  });

  it('without a client id is not counted', async () => {
    const { rates, calls } = ratesOf();
    await countTokenCall(exchangeOf(), { rates });
    expect(calls).toEqual([]);
  });
});
