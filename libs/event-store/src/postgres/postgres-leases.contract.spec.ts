import { COUNTED_SERVER, describeOnPostgres, waitUntil } from '@attestry/testing';
import { DEFAULT_LEASE_MS } from '../worker/held-lease.js';
import { LeasedWorker } from '../worker/leased-worker.js';
import { Fixture } from './fixture.js';

const NAMES = Array.from({ length: 12 }, (_, n) => `work${n}`);

describeOnPostgres(
  'leases in PostgreSQL',
  (server) => {
    let fixture: Fixture;
    let workers: LeasedWorker[];
    beforeEach(async () => {
      fixture = new Fixture((role) => server().url(role));
      await fixture.migrate();
      workers = [];
    });
    afterEach(async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await fixture.close();
    });

    const startAll = async (holder: string, onStandBy = () => undefined as void) => {
      const { leases } = await fixture.open();
      const started = NAMES.map((name) =>
        new LeasedWorker({ name, lease: { leases, holder }, standBy: onStandBy, batch: async () => 60_000 }).start(),
      );
      workers.push(...started);
      return started;
    };
    const lead = (all: readonly LeasedWorker[]) => all.every(({ isLeading }) => isLeading);
    const listener = async () => {
      const { rows } = await (
        await fixture.connect()
      ).query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN "${fixture.schema}.leases"'`);
      return rows[0]?.pid;
    };
    const pair = async () => {
      const first = await startAll('a');
      await waitUntil(() => lead(first));
      let tries = 0;
      const second = await startAll('b', () => void tries++);
      await waitUntil(listener);
      return { first, second, tries: () => tries };
    };

    it('that are released are taken at once by a standby, not with its next poll [T832]', async () => {
      const { first, second } = await pair();
      // Just after a poll: the next one is 2.4 s later.
      await waitUntil(() => Date.now() % (0.4 * DEFAULT_LEASE_MS) < 100, { intervalMs: 20, timeoutMs: 10_000 });
      await Promise.all(first.map((worker) => worker.stop()));
      const released = performance.now();
      await waitUntil(() => lead(second), { intervalMs: 10 });
      expect(performance.now() - released).toBeLessThan(1500);
    });

    it('that were released while a standby was not connected are taken once it is again', async () => {
      const { first, second } = await pair();
      const admin = await fixture.connect();
      const pid = await listener();
      await admin.query('SELECT pg_terminate_backend($1)', [pid]);
      await Promise.all(first.map((worker) => worker.stop()));
      await waitUntil(() => lead(second), { timeoutMs: 5000 });
      await waitUntil(async () => ![pid, undefined].includes(await listener()));
    });

    it('are tried in one statement of a standby each 2.4 s [T833]', async () => {
      const { tries } = await pair();
      const admin = await fixture.connect();
      await admin.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
      const statements = async () => {
        const { rows } = await admin.query<{ calls: string }>(
          `SELECT coalesce(sum(calls), 0) AS calls FROM pg_stat_statements WHERE query LIKE '%${fixture.schema}.leases%FROM asked%'`,
        );
        return Number(rows[0]!.calls);
      };
      // The tries at once, when it was connected, are over.
      const connected = tries();
      await waitUntil(() => tries() >= connected + NAMES.length, { timeoutMs: 10_000 });
      const [before, triesBefore, begun] = [await statements(), tries(), performance.now()];
      await waitUntil(() => tries() >= triesBefore + 3 * NAMES.length, { timeoutMs: 30_000 });
      const polls = (performance.now() - begun) / (0.4 * DEFAULT_LEASE_MS);
      // Renewals of the other process, and these tries; a statement may have been under way.
      const made = (await statements()) - before;
      expect(made).toBeGreaterThan(0);
      expect(made).toBeLessThanOrEqual(2 * polls + 3);
    });
  },
  COUNTED_SERVER,
);
