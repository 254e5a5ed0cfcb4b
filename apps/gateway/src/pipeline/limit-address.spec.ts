import { holderAccess, publicAccess } from '@attestry/contracts';
import { errorOf, EXCEEDED, exchangeOf, rate, ratesOf } from './exchange.spec-fixture.js';
import { limitAddress } from './limit-address.js';

describe('calls without credentials', () => {
  it.each([
    ['public', publicAccess],
    ['wallet', holderAccess],
    ['push', holderAccess],
  ] as const)('are counted by address and tenant: %s', async (name, access) => {
    const state = rate();
    const { rates, calls } = ratesOf(state);
    const exchange = exchangeOf({}, { access, rate: name });
    await limitAddress(exchange, { rates });
    expect(exchange.rate).toBe(state);
    expect(calls).toEqual([['count', name, { address: '192.0.2.1', tenantId: 't1' }]]);
  });

  it('are counted by address alone where the host has no tenant', async () => {
    const { rates, calls } = ratesOf();
    const host = { api: 'contexts' as const, publicUrl: 'https://contexts.example' };
    await limitAddress(exchangeOf({}, {}, { host }), { rates });
    expect(calls).toEqual([['count', 'public', { address: '192.0.2.1', tenantId: undefined }]]);
  });

  it('over the limit are a 429', async () => {
    expect((await errorOf(() => limitAddress(exchangeOf(), ratesOf(EXCEEDED)))).kind).toBe('tooManyRequests');
  });
});
