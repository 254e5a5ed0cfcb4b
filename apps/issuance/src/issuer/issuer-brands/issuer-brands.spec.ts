import { unavailable, type PublicContext, type VerifiedBrand } from '@attestry/contracts';
import type { Logger, ServiceClient } from '@attestry/service-kit';
import { IssuerBrands } from './issuer-brands.js';

const context = (tenantId: string) =>
  ({ tenant: { id: tenantId }, deadline: Date.now() + 10_000, requestId: 'r', operation: 'o' }) as PublicContext;

describe('the brand of an issuer', () => {
  let calls: { tenantId: string; wait: number }[];
  let answer: () => VerifiedBrand;
  let now: number;
  let warnings: number;
  let brands: IssuerBrands;
  beforeEach(() => {
    [calls, now, warnings] = [[], 0, 0];
    answer = () => ({ name: 'Acme' });
    const client = {
      call: async (_operation: unknown, _request: unknown, { tenant, deadline }: PublicContext) => {
        calls.push({ tenantId: tenant.id, wait: deadline - Date.now() });
        return answer();
      },
    } as unknown as ServiceClient;
    const logger = { warn: () => warnings++ } as unknown as Logger;
    brands = new IssuerBrands(client, { now: () => new Date(now) } as never, logger);
  });

  it('is queried once a second for each tenant', async () => {
    expect(
      await Promise.all([brands.find(context('a')), brands.find(context('a')), brands.find(context('b'))]),
    ).toEqual([{ name: 'Acme' }, { name: 'Acme' }, { name: 'Acme' }]);
    now = 999;
    await brands.find(context('a'));
    expect(calls.map(({ tenantId }) => tenantId)).toEqual(['a', 'b']);
    now = 1000;
    answer = () => ({});
    expect(await brands.find(context('a'))).toEqual({});
    expect(calls).toHaveLength(3);
  });

  it('is waited for at most 2 s', async () => {
    await brands.find(context('a'));
    expect(calls[0]!.wait).toBeLessThanOrEqual(2000);
  });

  it('is the last known one, or none, while tenant-config is unreachable', async () => {
    answer = () => {
      throw unavailable('no', undefined);
    };
    expect(await brands.find(context('a'))).toEqual({});
    now = 1000;
    answer = () => ({ name: 'Acme' });
    await brands.find(context('a'));
    now = 2000;
    answer = () => {
      throw unavailable('no', undefined);
    };
    expect(await brands.find(context('a'))).toEqual({ name: 'Acme' });
    expect(await brands.find(context('a'))).toEqual({ name: 'Acme' });
    now = 3000;
    expect(await brands.find(context('a'))).toEqual({ name: 'Acme' });
    expect([calls.length, warnings]).toEqual([4, 3]);
  });
});
