import { MemoryRateCounter, parseConfig } from '@attestry/service-kit';
import { rateKeyOf } from './client-address.js';
import { RateLimits, type RateState } from './rate-limits.js';

const TENANT = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';

let limits: RateLimits;
beforeEach(() => {
  const config = parseConfig({
    DATA_DIR: 'unused',
    RATE_LIMIT_WALLET_ADDRESS: '3',
    RATE_LIMIT_WALLET_TENANT: '5',
    RATE_LIMIT_CLIENT_TOKEN: '2',
    RATE_LIMIT_CLIENT_TOKEN_FAILURES: '3',
    RATE_LIMIT_CLIENT_TOKEN_FAILURES_48: '5',
  });
  limits = new RateLimits(config, new MemoryRateCounter());
});

const shown = ({ limit, remaining, exceeded }: RateState) => [limit, remaining, exceeded];
const times = <T>(n: number, call: () => T | Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: n }, call));

/** Counter that returns promises, as one on a server does. */
class LaterCounter extends MemoryRateCounter {
  override count(key: string) {
    const counted = super.count(key);
    return Promise.resolve(counted) as never;
  }
}

const CONFIG = parseConfig({ DATA_DIR: 'unused', RATE_LIMIT_WALLET_ADDRESS: '3', RATE_LIMIT_WALLET_TENANT: '5' });

describe('wallet limits where a server counts', () => {
  it('are a promise, and otherwise none', async () => {
    const subject = { address: '192.0.2.1', tenantId: TENANT };
    expect(new RateLimits(CONFIG, new MemoryRateCounter()).count('wallet', subject)).not.toBeInstanceOf(Promise);
    const later = new RateLimits(CONFIG, new LaterCounter());
    const state = later.count('wallet', subject);
    expect(state).toBeInstanceOf(Promise);
    expect(shown(await state)).toEqual([3, 2, false]);
    await times(100, () => later.count('wallet', subject));
    expect(shown(await later.count('wallet', { ...subject, address: '192.0.2.2' }))).toEqual([5, 1, false]);
  });
});

describe('wallet limits', () => {
  const wallet = (address: string, tenantId = TENANT) => limits.count('wallet', { address, tenantId });

  it('return the state with fewer calls left', async () => {
    expect(shown(await wallet('192.0.2.1'))).toEqual([3, 2, false]);
    await wallet('192.0.2.2');
    await wallet('192.0.2.3');
    // The new address has 2 calls left, the tenant 1.
    expect(shown(await wallet('192.0.2.4'))).toEqual([5, 1, false]);
  });

  it('refuse an address over its limit', async () => {
    await times(3, () => wallet('192.0.2.1'));
    expect(shown(await wallet('192.0.2.1'))).toEqual([3, 0, true]);
  });

  it('refuse a tenant over its own limit, from an address that has calls left', async () => {
    for (let n = 1; n <= 5; n++) expect((await wallet(`192.0.2.${n}`)).exceeded).toBe(false);
    expect(shown(await wallet('192.0.2.99'))).toEqual([5, 0, true]);
    expect((await wallet('192.0.2.99', OTHER)).exceeded).toBe(false);
  });

  it.each([
    ['in sequence', async (call: () => unknown) => void (await sequence(100, call))],
    ['concurrently', async (call: () => unknown) => void (await times(100, call))],
  ])('do not count calls against the tenant that the address limit refuses: calls sent %s', async (_name, send) => {
    await send(() => wallet('192.0.2.1'));
    // Three of the five were admitted; the 97 refused calls cost the tenant nothing.
    expect(shown(await wallet('192.0.2.2'))).toEqual([5, 1, false]);
    expect(shown(await wallet('192.0.2.3'))).toEqual([5, 0, false]);
    expect((await wallet('192.0.2.4')).exceeded).toBe(true);
  });
});

describe('limits of pushed authorization requests', () => {
  const settings = { DATA_DIR: 'unused', RATE_LIMIT_WALLET_ADDRESS: '8', RATE_LIMIT_WALLET_TENANT: '16' };
  beforeEach(() => {
    limits = new RateLimits(parseConfig(settings), new MemoryRateCounter());
  });
  const count = (rate: 'push' | 'wallet', address: string, tenantId = TENANT) =>
    limits.count(rate, { address, tenantId });

  it('are a quarter of the wallet limits of an address', async () => {
    expect(shown(await count('push', '192.0.2.1'))).toEqual([2, 1, false]);
    await count('push', '192.0.2.1');
    expect(shown(await count('push', '192.0.2.1'))).toEqual([2, 0, true]);
    // The two admitted pushes are wallet calls, too; the refused one is none.
    expect(shown(await count('wallet', '192.0.2.1'))).toEqual([8, 5, false]);
  });

  it('leave the other wallet calls of a tenant three quarters, however many addresses push [T297]', async () => {
    for (let n = 1; n <= 100; n++) await times(3, () => count('push', `192.0.2.${n}`));
    expect(shown(await count('push', '198.51.100.1'))).toEqual([4, 0, true]);
    // The refused push counts as a call of its address, not of the tenant.
    expect(shown(await count('wallet', '198.51.100.1'))).toEqual([8, 6, false]);
    expect(shown(await count('wallet', '192.0.2.1'))).toEqual([8, 5, false]);
    for (let n = 1; n <= 10; n++) expect((await count('wallet', `198.51.100.${n + 1}`)).exceeded).toBe(false);
    expect((await count('wallet', '198.51.100.99')).exceeded).toBe(true);
    expect((await count('push', '192.0.2.1', OTHER)).exceeded).toBe(false);
  });

  it('are five times those of an address for an IPv6 /48, and at least one', async () => {
    const one = { ...settings, RATE_LIMIT_WALLET_ADDRESS: '1', RATE_LIMIT_WALLET_TENANT: '400' };
    limits = new RateLimits(parseConfig(one), new MemoryRateCounter());
    const states = [];
    for (let n = 0; n < 6; n++) states.push(await count('push', rateKeyOf(`2001:db8:1:${n}::1`)));
    expect(states.map(({ exceeded }) => exceeded)).toEqual([false, false, false, false, false, true]);
  });
});

describe('wallet limits of an IPv6 /48', () => {
  beforeEach(() => {
    const config = parseConfig({
      DATA_DIR: 'unused',
      RATE_LIMIT_WALLET_ADDRESS: '3',
      RATE_LIMIT_WALLET_TENANT: '20',
    });
    limits = new RateLimits(config, new MemoryRateCounter());
  });
  const wallet = (address: string, tenantId = TENANT) =>
    limits.count('wallet', { address: rateKeyOf(address), tenantId });
  const fromMany = async (networks: number, each: number) => {
    for (let n = 0; n < networks; n++) await times(each, () => wallet(`2001:db8:1:${n.toString(16)}::1`));
  };

  it('are five times those of an address; refused calls do not count against the tenant', async () => {
    await fromMany(100, 3);
    expect(shown(await wallet('2001:db8:1:ffff::1'))).toEqual([15, 0, true]);
    expect(shown(await wallet('192.0.2.1'))).toEqual([3, 2, false]);
    // 15 of the network and one of the address before.
    expect(shown(await wallet('2001:db8:2:1::1'))).toEqual([3, 2, false]);
    for (const n of [2, 3, 4]) expect((await wallet(`192.0.2.${n}`)).exceeded).toBe(false);
    expect(shown(await wallet('192.0.2.5'))).toEqual([20, 0, true]);
  });

  it('do not count calls refused by the address limit', async () => {
    await fromMany(1, 100);
    expect((await wallet('2001:db8:1:1::1')).exceeded).toBe(false);
    expect((await wallet('2001:db8:1:2::1')).exceeded).toBe(false);
  });

  it('are separate for each tenant and network', async () => {
    await fromMany(5, 3);
    expect((await wallet('2001:db8:1:ffff::1')).exceeded).toBe(true);
    expect((await wallet('2001:db8:2:ffff::1')).exceeded).toBe(false);
    expect((await wallet('2001:db8:1:ffff::1', OTHER)).exceeded).toBe(false);
  });
});

describe('limits of token calls', () => {
  const failed = (address: string, n = 1) => times(n, () => limits.countTokenFailure(rateKeyOf(address)));
  const failures = async (address: string) => shown(await limits.tokenFailures(rateKeyOf(address)));

  it('refuse an IPv4 address after its failures, and no other', async () => {
    await failed('192.0.2.1', 2);
    expect(await failures('192.0.2.1')).toEqual([3, 1, false]);
    await failed('192.0.2.1');
    expect(await failures('192.0.2.1')).toEqual([3, 0, true]);
    expect(await failures('192.0.2.2')).toEqual([3, 3, false]);
  });

  it('refuse a /64 of IPv6 as one address', async () => {
    await failed('2001:db8:1:2::1', 2);
    await failed('2001:db8:1:2:ffff::1');
    expect(await failures('2001:db8:1:2::9')).toEqual([3, 0, true]);
    expect(await failures('2001:db8:1:3::1')).toEqual([5, 2, false]);
  });

  it('refuse a /48 of IPv6 after the failures of all its addresses, and no other', async () => {
    for (const subnet of [1, 2, 3, 4, 5]) await failed(`2001:db8:1:${subnet}::1`);
    expect(await failures('2001:db8:1:ffff::1')).toEqual([5, 0, true]);
    expect(await failures('2001:db8:2:1::1')).toEqual([3, 3, false]);
  });

  it('return the state after a failure', async () => {
    expect(shown((await failed('192.0.2.1'))[0]!)).toEqual([3, 2, false]);
  });

  it('of a client id are used up only by its own calls', async () => {
    await failed('192.0.2.1', 100);
    expect(shown(await limits.tokenCalls('client'))).toEqual([2, 2, false]);
    await limits.countTokenCall('client');
    expect(shown(await limits.countTokenCall('client'))).toEqual([2, 0, false]);
    expect(shown(await limits.tokenCalls('client'))).toEqual([2, 0, true]);
    expect(shown(await limits.tokenCalls('another'))).toEqual([2, 2, false]);
  });
});

const sequence = async (n: number, call: () => unknown): Promise<void> => {
  for (let i = 0; i < n; i++) await call();
};

describe('the limits of health', () => {
  it('are those of public documents with nothing counted, also for an address that has used them up', async () => {
    const address = rateKeyOf('192.0.2.9');
    const { limit } = await limits.publicCalls(address);
    await times(limit + 1, () => limits.count('public', { address }));
    expect((await limits.publicCalls(address)).exceeded).toBe(true);
    const earliest = Math.ceil(Date.now() / 1000) + 60;
    const state = limits.untouched();
    expect(state).toEqual({ limit, remaining: limit, reset: expect.any(Number) as number, exceeded: false });
    expect(state.reset - earliest).toBeGreaterThanOrEqual(0);
    expect(state.reset - earliest).toBeLessThanOrEqual(1);
    // It has counted nothing and reset nothing.
    expect((await limits.publicCalls(address)).exceeded).toBe(true);
  });
});
