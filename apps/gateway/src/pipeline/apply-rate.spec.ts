import { notFound } from '@attestry/contracts';
import { applyRate, checkPublicCalls, countPublicCall, refuse } from './apply-rate.js';
import { errorOf, EXCEEDED, exchangeOf, rate, ratesOf } from './exchange.spec-fixture.js';

describe('a limit', () => {
  it('that is not exceeded is named in the response', () => {
    const exchange = exchangeOf();
    const state = rate();
    void applyRate(exchange, state);
    expect(exchange.rate).toBe(state);
  });

  it('that is exceeded is a 429 with Retry-After, and named too', async () => {
    const exchange = exchangeOf();
    // EXCEEDED was made when its file was loaded, which may be long ago.
    const exceeded = rate({ remaining: 0, exceeded: true });
    const error = await errorOf(() => applyRate(exchange, exceeded));
    expect(error).toMatchObject({ kind: 'tooManyRequests', message: 'Too Many Requests' });
    expect(Number(error.headers?.['retry-after'])).toBeGreaterThan(25);
    expect(exchange.rate).toBe(exceeded);
  });

  it('that a server counts is waited for', async () => {
    const exchange = exchangeOf();
    const state = rate();
    const applied = applyRate(exchange, Promise.resolve(state));
    expect(exchange.rate).toBeUndefined();
    await applied;
    expect(exchange.rate).toBe(state);
    const exceeded = rate({ remaining: 0, exceeded: true });
    expect((await errorOf(() => applyRate(exchange, Promise.resolve(exceeded)))).kind).toBe('tooManyRequests');
  });

  it('that resets now sends a Retry-After of at least one second', async () => {
    const error = await errorOf(() => applyRate(exchangeOf(), rate({ exceeded: true, reset: 0 })));
    expect(error.headers).toEqual({ 'retry-after': '1' });
  });
});

describe('a refused request', () => {
  it('counts as a public call of its address', async () => {
    const { rates, calls } = ratesOf();
    const cause = notFound();
    expect(await errorOf(() => refuse(exchangeOf(), { rates }, cause))).toBe(cause);
    expect(calls).toEqual([['count', 'public', { address: '192.0.2.1' }]]);
  });

  it('is a 429 once the address is over its limit', async () => {
    const { rates } = ratesOf(EXCEEDED);
    expect((await errorOf(() => refuse(exchangeOf(), { rates }, notFound()))).kind).toBe('tooManyRequests');
    expect((await errorOf(() => countPublicCall(exchangeOf(), { rates }))).kind).toBe('tooManyRequests');
  });
});

describe('before expensive work', () => {
  it('an address below its limit continues, and the limit is not named', async () => {
    const { rates, calls } = ratesOf();
    const exchange = exchangeOf();
    await checkPublicCalls(exchange, { rates });
    expect(exchange.rate).toBeUndefined();
    expect(calls).toEqual([['publicCalls', '192.0.2.1']]);
  });

  it('an address over its limit is a 429', async () => {
    const exchange = exchangeOf();
    const error = await errorOf(() => checkPublicCalls(exchange, ratesOf(EXCEEDED)));
    expect([error.kind, exchange.rate]).toEqual(['tooManyRequests', EXCEEDED]);
  });
});
