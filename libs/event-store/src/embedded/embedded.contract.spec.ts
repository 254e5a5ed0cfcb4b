import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startWorkerProcess } from '@attestry/testing';
import { describeCheckpoints } from '../checkpoints.contract.js';
import { describeEventStore } from '../event-store.contract.js';
import { describeSnapshots } from '../snapshots.contract.js';
import { describeLeasedWorker } from '../worker/leased-worker.contract.js';
import { EmbeddedEventStore } from './embedded-event-store.js';

describeEventStore('embedded (SQLite)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-events-'));
  const open = () => EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
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
      await rm(folder, { recursive: true });
    },
  };
});

describeSnapshots('embedded (SQLite)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-snapshots-'));
  const open = () => EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
  let store = await open();
  return {
    snapshots: store.snapshots,
    async reopen() {
      await store.close();
      store = await open();
      return store.snapshots;
    },
    async close() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});

describeCheckpoints('embedded (SQLite)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-checkpoints-'));
  const open = () => EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
  let store = await open();
  return {
    checkpoints: store.checkpoints,
    leases: store.leases,
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    async close() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});

// A data folder belongs to one process; the leases in its files would hold between several.
describeLeasedWorker('embedded (SQLite)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-workers-'));
  const file = join(folder, 'events.db');
  const store = await EmbeddedEventStore.openFile({ file });
  return {
    start: (options) => startWorkerProcess({ ...options, engine: { file } }),
    position: async () => Number((await store.checkpoints.read('work')) ?? 0),
    isWritable: () => Promise.race([store.checkpoints.write('lock', '1').then(() => true), pause(300, false)]),
    reportsStaleWriters: true,
    async close() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});
