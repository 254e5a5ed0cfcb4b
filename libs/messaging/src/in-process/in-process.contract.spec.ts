import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeMessageBus } from '../messaging.contract.js';
import { InProcessBus } from './in-process-bus.js';

describeMessageBus('in-process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-feed-'));
  const errors: { subject: string; error: unknown }[] = [];
  const open = () =>
    InProcessBus.open({
      file: join(folder, 'feed.db'),
      onError: (subject, error) => void errors.push({ subject, error }),
    });
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
