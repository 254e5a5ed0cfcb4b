import { describeOnPostgres, startWorkerProcess } from '@attestry/testing';
import { describeCheckpoints } from '../checkpoints.contract.js';
import { describeEventStore } from '../event-store.contract.js';
import { describeSnapshots } from '../snapshots.contract.js';
import { describeLeasedWorker } from '../worker/leased-worker.contract.js';
import { migratePostgresEvents, openPostgresCoordination, openPostgresEvents } from './load-postgres.js';
import type { Retention } from './partitioned-schema.js';

describeOnPostgres('PostgreSQL', (server) => {
  let tests = 0;
  const kinds: [string, Retention | undefined][] = [
    ['kept for ever', undefined],
    ['in partitions', { days: 400 }],
  ];
  describe.each(kinds)('%s', (name, retention) => {
    describeEventStore(`PostgreSQL, ${name}`, async () => {
      const options = { url: server().url(), schema: `test${++tests}` };
      await migratePostgresEvents(options, { events: true, retention });
      const failures: Error[] = [];
      const open = () => openPostgresEvents({ ...options, onFailure: (error) => void failures.push(error) });
      let store = await open();
      return {
        store,
        leases: store.leases,
        transactions: true,
        async reopen() {
          await store.close();
          store = await open();
          return { store, leases: store.leases };
        },
        async close() {
          await store.close();
          expect(failures).toEqual([]);
        },
      };
    });
  });

  describeSnapshots('PostgreSQL', async () => {
    const options = { url: server().url(), schema: `test${++tests}` };
    await migratePostgresEvents(options, { events: false });
    const open = () => openPostgresCoordination({ ...options, onFailure: () => undefined });
    let coordination = await open();
    return {
      snapshots: coordination.snapshots,
      async reopen() {
        await coordination.close();
        coordination = await open();
        return coordination.snapshots;
      },
      close: () => coordination.close(),
    };
  });

  describeCheckpoints('PostgreSQL', async () => {
    const options = { url: server().url(), schema: `test${++tests}` };
    await migratePostgresEvents(options, { events: false });
    const open = () => openPostgresCoordination({ ...options, onFailure: () => undefined });
    let coordination = await open();
    return {
      checkpoints: coordination.checkpoints,
      leases: coordination.leases,
      async reopen() {
        await coordination.close();
        coordination = await open();
        return coordination;
      },
      close: () => coordination.close(),
    };
  });

  describeLeasedWorker('PostgreSQL', async () => {
    const engine = { url: server().url(), schema: `test${++tests}` };
    await migratePostgresEvents(engine, { events: false });
    const { checkpoints, close } = await openPostgresCoordination({ ...engine, onFailure: () => undefined });
    return {
      start: (options) => startWorkerProcess({ ...options, engine }),
      position: async () => Number((await checkpoints.read('work')) ?? 0),
      reportsStaleWriters: true,
      close,
    };
  });
});
