import { randomUUID } from 'node:crypto';
import type { Leases } from './event-store.js';

export const until = async (condition: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  for (const end = Date.now() + 20_000; !(await condition()); await new Promise((resolve) => setTimeout(resolve, 5)))
    if (Date.now() > end) throw new Error(`waited 20 s for ${what}`);
};

/** The tests that every adapter of {@link Leases} passes. Uses Jest's globals. */
export const itGrantsLeases = (leases: () => Leases): void => {
  const long = 60_000;
  let lease: string;
  beforeEach(() => (lease = `lease-${randomUUID()}`));

  it('grants a free lease to one holder', async () => {
    const granted = (await leases().acquire(lease, 'a', long))!;
    expect(granted).toMatchObject({ name: lease, holder: 'a' });
    expect(granted.epoch).toBeGreaterThan(0);
    expect(granted.expiresAt - Date.now()).toBeGreaterThan(long / 2);
    expect(await leases().acquire(lease, 'b', long)).toBeUndefined();
    expect(await leases().acquire(lease, 'a', long)).toMatchObject({ epoch: granted.epoch });
    expect(await leases().isHeld(granted)).toBe(true);
    expect(await leases().acquire(`${lease}2`, 'b', long)).toBeDefined();
  });

  it('grants a contended lease exactly once', async () => {
    const granted = await Promise.all(Array.from({ length: 10 }, (_, n) => leases().acquire(lease, `h${n}`, long)));
    expect(granted.filter(Boolean)).toHaveLength(1);
  });

  it('renews a held lease', async () => {
    const granted = (await leases().acquire(lease, 'a', long))!;
    const renewed = (await leases().renew(granted, 2 * long))!;
    expect(renewed.epoch).toBe(granted.epoch);
    expect(renewed.expiresAt).toBeGreaterThan(granted.expiresAt);
    expect(await leases().acquire(lease, 'b', long)).toBeUndefined();
  });

  it('releases a lease, and the next holder has a higher epoch', async () => {
    const granted = (await leases().acquire(lease, 'a', long))!;
    await leases().release(granted);
    expect(await leases().isHeld(granted)).toBe(false);
    const next = (await leases().acquire(lease, 'b', long))!;
    expect(next.epoch).toBeGreaterThan(granted.epoch);
  });

  it('allows an expired lease to be taken over, and fences the former holder', async () => {
    const old = (await leases().acquire(lease, 'a', 20))!;
    let next: Awaited<ReturnType<Leases['acquire']>>;
    await until(async () => (next = await leases().acquire(lease, 'b', long)) !== undefined, 'the takeover');
    expect(next!.epoch).toBeGreaterThan(old.epoch);
    expect(await leases().isHeld(old)).toBe(false);
    expect(await leases().isHeld(next!)).toBe(true);
    expect(await leases().renew(old, long)).toBeUndefined();
    await leases().release(old);
    expect(await leases().isHeld(next!)).toBe(true);
    expect(await leases().acquire(lease, 'a', long)).toBeUndefined();
  });

  it('does not hold an expired lease, even when no other process took it', async () => {
    const old = (await leases().acquire(lease, 'a', 20))!;
    await until(async () => !(await leases().isHeld(old)), 'the lease to run out');
    expect(await leases().renew(old, long)).toBeUndefined();
  });
};
