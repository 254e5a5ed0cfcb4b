import type { Lease, Leases } from '@attestry/event-store';
import { waitUntil } from '@attestry/testing';
import { Health } from '../process/health.js';
import { createLogger } from '../process/logger.js';
import { PeriodicWork } from './periodic-work.js';

const lease: Lease = { name: 'a.work', holder: 'h', epoch: 1, expiresAt: 0 };
const leases = { acquire: () => Promise.resolve(lease), release: () => Promise.resolve() } as unknown as Leases;

describe('periodic work', () => {
  it('that failed is reported in readiness, and retried long before its next run', async () => {
    const health = new Health();
    const checks = () => health.report().checks.filter(({ name }) => name === 'a.work');
    let runs = 0;
    class Work extends PeriodicWork {
      runJob(): Promise<void> {
        return (runs += 1) === 1 ? Promise.reject(new Error('away')) : Promise.resolve();
      }
    }
    const options = { name: 'a.work', failure: 'working failed', pauseMs: 3_600_000 };
    const work = new Work(leases, health, createLogger('silent'), options);
    work.onApplicationBootstrap();
    await waitUntil(() => runs === 1 && checks()[0]?.healthy === false, { what: 'the failure to show' });
    expect(checks()).toEqual([{ name: 'a.work', healthy: false, error: 'away' }]);
    await waitUntil(() => checks()[0]?.healthy, { timeoutMs: 5000, what: 'health' });
    expect(runs).toBe(2);
    await work.beforeApplicationShutdown();
    expect(runs).toBe(2);
  });
});
