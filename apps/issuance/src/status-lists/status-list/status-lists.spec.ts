import type { RunningProjection } from '@attestry/read-model';
import { StatusListsReadModel, type StatusListTables } from './status-lists.read-model.js';

describe('whether the statuses are current', () => {
  let now = 0;
  let asked = 0;
  let covers: () => Promise<boolean>;
  const health = { name: 'issuance.status-lists', healthy: true, caughtUp: true };
  const running = {
    readsOwnVersion: true,
    health,
    waitForHead: () => {
      asked += 1;
      return covers();
    },
  };
  let lists: StatusListsReadModel;
  beforeEach(() => {
    now = Date.parse('2026-03-01T00:00:00.000Z');
    asked = 0;
    covers = () => Promise.resolve(true);
    Object.assign(running, { readsOwnVersion: true });
    health.healthy = true;
    lists = new StatusListsReadModel(undefined as never, undefined as never, { now: () => new Date(now) });
    lists.running = running as unknown as RunningProjection<StatusListTables>;
  });

  it('costs one check in ten seconds, however many shards and lists there are', async () => {
    for (let second = 0; second < 60; second++, now += 1000)
      for (let n = 0; n < 4; n++)
        expect(await Promise.all([lists.areCurrent(), lists.areCurrent()])).toEqual([true, true]);
    expect(asked).toBe(6);
  });

  it('is known from a check of the last minute, which later ones may fail', async () => {
    expect(await lists.areCurrent()).toBe(true);
    covers = () => Promise.resolve(false);
    now += 60_000;
    expect(await lists.areCurrent()).toBe(true);
    now += 1;
    expect(await lists.areCurrent()).toBe(false);
    covers = () => Promise.resolve(true);
    // The next check.
    expect(await lists.areCurrent()).toBe(false);
    now += 11_000;
    expect(await lists.areCurrent()).toBe(true);
  });

  it('is not known from a check before the clock was set back', async () => {
    expect(await lists.areCurrent()).toBe(true);
    covers = () => Promise.resolve(false);
    now -= 61_000;
    expect(await lists.areCurrent()).toBe(false);
  });

  it('is false without tables of its version, and while the projection fails, at once', async () => {
    expect(await lists.areCurrent()).toBe(true);
    health.healthy = false;
    expect(await lists.areCurrent()).toBe(false);
    health.healthy = true;
    Object.assign(running, { readsOwnVersion: false });
    expect(await lists.areCurrent()).toBe(false);
    expect(asked).toBe(1);
  });

  it('fails with the store only where it has to be known', async () => {
    expect(await lists.areCurrent()).toBe(true);
    covers = () => Promise.reject(new Error('away'));
    now += 11_000;
    expect(await lists.areCurrent()).toBe(true);
    now += 50_000;
    await expect(lists.areCurrent()).rejects.toThrow('away');
  });
});
