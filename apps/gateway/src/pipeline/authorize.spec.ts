import { forbidden } from '@attestry/contracts';
import { authorize } from './authorize.js';
import { errorOf, exchangeOf, NOW } from './exchange.spec-fixture.js';

describe('authorization', () => {
  it('is queried with the operation, host and caller', async () => {
    const exchange = exchangeOf();
    const calls: unknown[] = [];
    await authorize(exchange, {
      authenticate: { authorize: async (...args: unknown[]) => void calls.push(...args) } as never,
    });
    expect(calls).toEqual([exchange.plan.operation, exchange.host, exchange.caller, NOW + 1000]);
  });

  it('that is refused is a 403', async () => {
    const authenticate = { authorize: () => Promise.reject(forbidden('x')) } as never;
    expect((await errorOf(() => authorize(exchangeOf(), { authenticate }))).kind).toBe('forbidden');
  });
});
