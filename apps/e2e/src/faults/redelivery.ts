import { setTimeout as pause } from 'node:timers/promises';
import { ClusterFeed, heldLeases, waitUntil } from '@attestry/testing';
import { readCheckedEvents, type StoredEvent } from '@attestry/testing/services';
import { checkOperations } from '../crash/verify-folder.js';
import type { Stage } from './stage.js';

const CONSUMER = 'analytics.operations';
/** Records of access follow their answer, and some the end of a minute: what was read amid one is read again, so often. */
const READINGS = 10;

/** The operation events as they are stored, with the row of every call checked. */
export const operationEvents = async (stage: Stage, faults: string[]): Promise<StoredEvent[]> => {
  // EventStoreDB stores both kinds together.
  const isOperation = ({ stream }: StoredEvent) => stream.startsWith('operation-');
  for (let left = READINGS; ; left--) {
    const found: string[] = [];
    const events = (await readCheckedEvents(stage.stores.operationEvents, found)).filter(isOperation);
    const domain = (await readCheckedEvents(stage.stores.events, found)).filter((event) => !isOperation(event));
    const rows = await stage.tables.rows('analytics', 'analytics.events');
    checkOperations(rows['analytics_operations']!, domain, events, found);
    if (found.length === 0 || left === 1) {
      faults.push(...found);
      return events;
    }
    await pause(1000);
  }
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
