import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeysDestroyed, KeyVault } from '@attestry/keys';
import { InProcessBus } from '@attestry/messaging';
import { waitUntil } from '@attestry/testing';
import { createLogger } from '../process/logger.js';
import { evictDestroyedKeys } from './key-evictions.js';

/** A vault that keeps what it evicted. */
const recordingVault = () => {
  const evicted: KeysDestroyed[] = [];
  let listener: (destroyed: KeysDestroyed) => void = () => undefined;
  const vault = {
    evict: (tenantId: string, keyIds?: readonly string[]) =>
      void evicted.push(keyIds ? { tenantId, keyIds: [...keyIds] } : { tenantId }),
    onDestroyed: (added: typeof listener) => {
      listener = added;
      return () => (listener = () => undefined);
    },
  } as unknown as KeyVault;
  return { vault, evicted, destroy: (destroyed: KeysDestroyed) => listener(destroyed) };
};

describe('destroyed keys', () => {
  let folder: string;
  let bus: InProcessBus;
  const closing: { close(): Promise<void> }[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-evictions-'));
    bus = await InProcessBus.open({ file: join(folder, 'feed.db'), onError: () => undefined });
  });
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((one) => one.close()));
    await bus.close();
    await rm(folder, { recursive: true });
  });

  it('are published once, whichever processes destroy them, and evicted by every process', async () => {
    const processes = [recordingVault(), recordingVault(), recordingVault()];
    for (const { vault } of processes) closing.push(evictDestroyedKeys(vault, bus, createLogger('silent')));
    const published: unknown[] = [];
    closing.push(
      bus.consume({ name: 'test', subjects: ['event.keys.destroyed'] }, async (messages) => {
        published.push(...messages.map(({ data }) => data));
      }),
    );
    await bus.head();
    const [command, replay] = processes as [ReturnType<typeof recordingVault>, ReturnType<typeof recordingVault>];
    command.destroy({ tenantId: 't1', keyIds: ['a', 'b'] });
    replay.destroy({ tenantId: 't1', keyIds: ['b', 'a'] });
    command.destroy({ tenantId: 't1' });
    replay.destroy({ tenantId: 't2', keyIds: ['a', 'b'] });
    replay.destroy({ tenantId: 't1' });
    const expected = [
      { tenantId: 't1', keyIds: ['a', 'b'] },
      { tenantId: 't1' },
      { tenantId: 't2', keyIds: ['a', 'b'] },
    ];
    await waitUntil(() => processes.every(({ evicted }) => evicted.length === 3) && published.length === 3);
    expect(published).toEqual(expected);
    for (const { evicted } of processes) expect(evicted).toEqual(expected);
  });
});
