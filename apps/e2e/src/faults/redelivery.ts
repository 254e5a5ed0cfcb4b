import { setTimeout as pause } from 'node:timers/promises';
import { ClusterFeed, heldLeases, waitUntil } from '@attestry/testing';
import { readCheckedEvents, type StoredEvent } from '@attestry/testing/services';
import { checkOperations } from '../crash/verify-folder.js';
import type { Stage } from './stage.js';

const CONSUMER = 'analytics.operations';

/** The operation events as they are stored, with the row of every call checked. */
export const operationEvents = async (stage: Stage, faults: string[]): Promise<StoredEvent[]> => {
  // EventStoreDB stores both kinds together.
  const isOperation = ({ stream }: StoredEvent) => stream.startsWith('operation-');
  const events = (await readCheckedEvents(stage.stores.operationEvents, faults)).filter(isOperation);
  const domain = (await readCheckedEvents(stage.stores.events, faults)).filter((event) => !isOperation(event));
  const rows = await stage.tables.rows('analytics', 'analytics.events');
  checkOperations(rows['analytics_operations']!, domain, events, faults);
  return events;
};

/**
 * Deletes the feed's record of the acknowledgements of analytics, so that everything is redelivered in larger batches, and kills
 * analytics meanwhile the given number of times.
 */
export const redeliverOperations = async (stage: Stage, kills: number): Promise<void> => {
  const { cluster, random } = stage;
  const recorders = cluster.processesOf('analytics');
  const feed = await ClusterFeed.open(cluster);
  try {
    await Promise.all(recorders.map((process) => process.end('SIGTERM')));
    await feed.deleteConsumer(CONSUMER);
    for (let kill = 0; kill < kills; kill++) {
      for (const process of recorders) process.launch();
      const holds = async () => (await Promise.all(recorders.map(heldLeases))).some((leases) => leases.has(CONSUMER));
      await waitUntil(holds, { what: 'analytics to read again' });
      await pause(random.integer(0, 300));
      await Promise.all(recorders.map((process) => process.end('SIGKILL')));
    }
    await Promise.all(recorders.map((process) => process.restart()));
  } finally {
    await feed.close();
  }
};
