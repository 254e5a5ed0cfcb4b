import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipSuite } from '@attestry/testing';
import { EmbeddedEventStore } from '../embedded/embedded-event-store.js';
import { describeEventStore, type EventStoreUnderTest } from '../event-store.contract.js';
import { openEventStoreDb } from './load-eventstoredb.js';

/** EventStoreDB keeps no leases: they come from a store beside it, as in production. */
const underTest = async (url: string, more: Partial<EventStoreUnderTest>): Promise<EventStoreUnderTest> => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-leases-'));
  const failures: Error[] = [];
  const open = () => openEventStoreDb({ url, onFailure: (error) => void failures.push(error) });
  const beside = () => EmbeddedEventStore.open({ file: join(folder, 'leases.db') });
  let [store, leases] = await Promise.all([open(), beside()]);
  return {
    store,
    leases: leases.leases,
    ...more,
    async reopen() {
      await Promise.all([store.close(), leases.close()]);
      await more.reopen?.();
      [store, leases] = await Promise.all([open(), beside()]);
      return { store, leases: leases.leases };
    },
    async close() {
      await Promise.all([store.close(), leases.close()]);
      await more.close?.();
      await rm(folder, { recursive: true });
      expect(failures).toEqual([]);
    },
  };
};

const real = process.env['EVENTSTORE_URL'];
if (real === undefined)
  skipSuite('event store: EventStoreDB', 'EVENTSTORE_URL names no server; the stand-in is tested');
else describeEventStore('EventStoreDB', () => underTest(real, { shared: true }));
