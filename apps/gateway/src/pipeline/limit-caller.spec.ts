import type { IdentifiedCaller } from '../auth/authenticate.js';
import { errorOf, EXCEEDED, exchangeOf, rate, ratesOf } from './exchange.spec-fixture.js';
import { limitCaller } from './limit-caller.js';

describe('calls with credentials', () => {
  it.each([
    [{ kind: 'client', clientId: 'c', roles: [] }, 'c'],
    [{ kind: 'management', clientId: 'm' }, 'm'],
    [{ kind: 'user', userId: 'u' }, 'user:u'],
    [{ kind: 'public' }, undefined],
  ] as [IdentifiedCaller, string | undefined][])('are counted for their caller: %j', async (caller, clientId) => {
    const state = rate();
    const { rates, calls } = ratesOf(state);
    const exchange = exchangeOf({}, {}, { caller });
    await limitCaller(exchange, { rates });
    expect(exchange.rate).toBe(state);
    expect(calls).toEqual([['count', 'api', { address: '192.0.2.1', tenantId: 't1', clientId }]]);
  });

  it('are counted where the host has no tenant', async () => {
    const { rates, calls } = ratesOf();
    const host = { api: 'management' as const, publicUrl: 'https://m.example' };
    await limitCaller(exchangeOf({}, {}, { host, caller: { kind: 'management', clientId: 'm' } }), { rates });
    expect(calls).toEqual([['count', 'api', { address: '192.0.2.1', tenantId: undefined, clientId: 'm' }]]);
  });

  it('over the limit are a 429', async () => {
    expect((await errorOf(() => limitCaller(exchangeOf(), ratesOf(EXCEEDED)))).kind).toBe('tooManyRequests');
  });
});
