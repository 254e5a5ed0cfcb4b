import { unauthenticated, type Caller } from '@attestry/contracts';
import { errorOf, EXCEEDED, exchangeOf, NOW, rate, ratesOf } from './exchange.spec-fixture.js';
import { identifyCaller } from './identify-caller.js';

type Identify = (...args: [unknown, unknown, unknown, number, () => Promise<void>]) => Promise<Caller>;
const authenticateBy = (caller: Identify) => ({ authenticate: { caller } as never });
const unidentified = () => exchangeOf({ headers: { authorization: 'Bearer x' } }, {}, { caller: undefined });

describe('a caller', () => {
  it('whose token is verified is not counted here', async () => {
    const exchange = unidentified();
    const { rates, calls } = ratesOf();
    const seen: unknown[] = [];
    const caller: Caller = { kind: 'management', clientId: 'c' };
    const identify: Identify = async (...args) => {
      seen.push(...args.slice(0, 4));
      return caller;
    };
    await identifyCaller(exchange, { ...authenticateBy(identify), rates });
    expect([exchange.caller, calls]).toEqual([caller, []]);
    expect(seen).toEqual([exchange.plan.operation, exchange.host, 'Bearer x', NOW + 1000]);
  });

  it('whose token is invalid is a 401, counted as a public call', async () => {
    const state = rate();
    const { rates, calls } = ratesOf(state);
    const exchange = unidentified();
    const wrong = authenticateBy(() => Promise.reject(unauthenticated()));
    expect((await errorOf(() => identifyCaller(exchange, { ...wrong, rates }))).kind).toBe('unauthenticated');
    expect([exchange.caller, exchange.rate]).toEqual([undefined, state]);
    expect(calls).toEqual([['count', 'public', { address: '192.0.2.1' }]]);
  });

  it('over the public limit of the address is a 429, and the token is not verified', async () => {
    let checked = 0;
    const deps = authenticateBy(async (_operation, _host, _token, _deadline, beforeCheck) => {
      await beforeCheck();
      checked++;
      throw unauthenticated();
    });
    const error = await errorOf(() => identifyCaller(unidentified(), { ...deps, ...ratesOf(EXCEEDED) }));
    expect([error.kind, checked]).toEqual(['tooManyRequests', 0]);
  });
});
