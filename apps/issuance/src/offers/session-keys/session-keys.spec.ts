import type { Lease, Leases, Streams } from '@attestry/event-store';
import type { Sealing } from '@attestry/keys';
import type { ReadModels } from '@attestry/read-model';
import { createLogger, Health } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { SessionKeys } from './session-keys.js';

const NAME = 'issuance.session-key-sweep';
const lease: Lease = { name: NAME, holder: 'h', epoch: 1, expiresAt: 0 };
const leases = { acquire: () => Promise.resolve(lease), release: () => Promise.resolve() } as unknown as Leases;

describe('the sweep of session keys', () => {
  it('that failed shows in readiness under its own name until it succeeds', async () => {
    const health = new Health();
    let failures = 1;
    let reads = 0;
    const query: Record<string, unknown> = {
      execute: () => (reads++ < failures ? Promise.reject(new Error('the read model is away')) : Promise.resolve([])),
    };
    for (const part of ['selectAll', 'where', 'orderBy', 'limit']) query[part] = () => query;
    const running = {
      db: { selectFrom: () => query },
      health: { healthy: true, caughtUp: true },
      readsOwnVersion: true,
      waitForHead: () => Promise.resolve(true),
    };
    const keys = new SessionKeys(
      { start: () => Promise.resolve(running) } as unknown as ReadModels,
      leases,
      {} as Streams,
      {} as Sealing,
      health,
      { now: () => new Date() },
      createLogger('silent'),
    );
    await keys.onModuleInit();
    keys.onApplicationBootstrap();
    const check = () => health.report().checks.find(({ name }) => name === NAME);
    await waitUntil(() => check()?.healthy === false, { what: 'the failure to show' });
    expect(check()).toEqual({ name: NAME, healthy: false, error: 'the read model is away' });
    expect(health.report().ready).toBe(false);
    await waitUntil(() => check()?.healthy, { what: 'health' });
    expect(health.report()).toMatchObject({ ready: true, checks: [{ name: 'issuance.session-keys' }, { name: NAME }] });
    expect([reads, failures]).toEqual([2, 1]);
    failures = 0;
    await keys.beforeApplicationShutdown();
  });

  it('does nothing while events are not projected yet, or the tables are those of another version', async () => {
    let reads = 0;
    let [isCaughtUp, readsOwnVersion] = [false, true];
    const running = {
      db: { selectFrom: () => Promise.reject(new Error(`read ${++reads}`)) },
      health: { healthy: true, caughtUp: true },
      get readsOwnVersion() {
        return readsOwnVersion;
      },
      waitForHead: () => Promise.resolve(isCaughtUp),
    };
    const keys = new SessionKeys(
      { start: () => Promise.resolve(running) } as unknown as ReadModels,
      leases,
      {} as Streams,
      {} as Sealing,
      new Health(),
      { now: () => new Date() },
      createLogger('silent'),
    );
    await keys.onModuleInit();
    expect(await keys.sweep()).toBe(0);
    [isCaughtUp, readsOwnVersion] = [true, false];
    expect(await keys.sweep()).toBe(0);
    expect(reads).toBe(0);
  });
});
