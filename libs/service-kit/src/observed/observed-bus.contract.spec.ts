import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeMessageBus, InProcessBus } from '@attestry/messaging';
import { Metrics } from '../metrics/metrics.js';
import { NoTracing } from '../tracing/tracing.js';
import { ObservedBus } from './observed-bus.js';

/** The wrapper that every process puts around its bus passes the contract suite of the port. */
describeMessageBus('observed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-observed-bus-'));
  const errors: { subject: string; error: unknown }[] = [];
  const onError = (subject: string, error: unknown) => void errors.push({ subject, error });
  const open = async () => {
    const bus = await InProcessBus.open({ file: join(folder, 'feed.db'), onError });
    return new ObservedBus(bus, new Metrics(), new NoTracing());
  };
  let current = await open();
  return {
    bus: current,
    errors,
    reopen: async () => {
      await current.close();
      current = await open();
      return current;
    },
    close: async () => {
      await current.close();
      rmSync(folder, { recursive: true });
    },
  };
});
