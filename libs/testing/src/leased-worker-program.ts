// A worker in a separate process, see describeLeasedWorker. It prints a line of JSON for each event.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  EmbeddedEventStore,
  LeasedWorker,
  openPostgresCoordination,
  type Checkpoints,
  type Leases,
} from '@attestry/event-store';
import { openNatsBus } from '@attestry/messaging';
import type { WorkerProgramOptions, WorkerMessage } from './worker-process.js';

const NAME = 'work';
const { engine, leaseMs, batchMs } = JSON.parse(process.argv[2]!) as WorkerProgramOptions;
const report = (message: WorkerMessage) => process.stdout.write(`${JSON.stringify(message)}\n`);
const onFailure = (error: Error) => void report({ failed: error.name });

interface Running {
  isHolding(): boolean;
  stop(): Promise<void>;
}

const onCheckpoints = ({
  leases,
  checkpoints,
  close,
}: {
  leases: Leases;
  checkpoints: Checkpoints;
  close(): Promise<void>;
}): Running => {
  const worker = new LeasedWorker({
    name: NAME,
    lease: { leases, holder: randomUUID(), leaseMs },
    backOff: { firstMs: 20, maxMs: 100 },
    batch: async (_, { epoch }) => {
      const next = Number((await checkpoints.read(NAME)) ?? 0) + 1;
      report({ begun: next });
      await pause(batchMs);
      await checkpoints.write(NAME, String(next), epoch);
      report({ done: next });
    },
    onError: onFailure,
  }).start();
  const stop = async () => {
    await worker.stop();
    await close();
  };
  return { isHolding: () => worker.isLeading, stop };
};

const start = async (): Promise<Running> => {
  if ('file' in engine) {
    const store = await EmbeddedEventStore.openFile({ file: engine.file });
    const { leases, checkpoints } = store;
    return onCheckpoints({ leases, checkpoints, close: () => store.close() });
  }
  if ('schema' in engine) {
    const coordination = await openPostgresCoordination({ ...engine, onFailure });
    const { leases, checkpoints } = coordination;
    return onCheckpoints({ leases, checkpoints, close: () => coordination.close() });
  }
  const onError = (_subject: string, error: unknown) => onFailure(error as Error);
  const bus = await openNatsBus({ servers: [engine.url], namespace: engine.namespace, leaseMs, onError });
  const consumer = bus.consume({ name: NAME, subjects: ['event.>'], batchSize: 1 }, async ([message]) => {
    report({ begun: Number(message!.sequence) });
    await pause(batchMs);
  });
  return { isHolding: () => consumer.isHeld, stop: () => bus.close() };
};

const running = await start();
let holding: boolean | undefined;
setInterval(() => {
  if (running.isHolding() === holding) return;
  holding = running.isHolding();
  report({ holding });
}, 10);
process.once('SIGTERM', () => void running.stop().then(() => process.exit(0)));
