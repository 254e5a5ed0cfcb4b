import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { describeMessageBus, type BusUnderTest } from '../messaging.contract.js';
import { Broker } from './broker.js';
import { InProcessBus } from './in-process-bus.js';

const make = (connect: (broker: Broker, onError: (subject: string, error: unknown) => void) => InProcessBus) => {
  return async (): Promise<BusUnderTest> => {
    const folder = mkdtempSync(join(tmpdir(), 'attestry-feed-'));
    const errors: { subject: string; error: unknown }[] = [];
    const onError = (subject: string, error: unknown) => void errors.push({ subject, error });
    const open = async () => {
      const broker = await Broker.open({ file: join(folder, 'feed.db'), onError });
      return { broker, bus: connect(broker, onError) };
    };
    let current = await open();
    const closeCurrent = async () => {
      await current.bus.close();
      await current.broker.close();
    };
    return {
      bus: current.bus,
      errors,
      reopen: async () => {
        await closeCurrent();
        current = await open();
        return current.bus;
      },
      close: async () => {
        await closeCurrent();
        rmSync(folder, { recursive: true });
      },
    };
  };
};

describeMessageBus(
  'in-process, the same thread',
  make((broker) => broker.connect()),
);
describeMessageBus(
  'in-process, over a message port',
  make((broker, onError) => {
    const { port1, port2 } = new MessageChannel();
    broker.connectPort(port1);
    return InProcessBus.connect(port2, { onError });
  }),
);
