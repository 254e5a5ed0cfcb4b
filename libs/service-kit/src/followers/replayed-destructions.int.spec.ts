import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHAIN_START, chainEvent, EmbeddedEventStore, type RecordedEvent } from '@attestry/event-store';
import { KeyCheckpoints } from '@attestry/keys';
import { waitUntil } from '@attestry/testing';
import { Health } from '../process/health.js';
import { createLogger } from '../process/logger.js';
import { ReplayedDestructions } from './replayed-destructions.js';

const NAME = 'a.destructions';

/** Positions as the key stores keep them; `restore` is what an older copy of the store does. */
class Positions extends KeyCheckpoints {
  stored: string | undefined;
  async read(): Promise<string | undefined> {
    return this.stored;
  }
  async write(_name: string, position: string, previous: string | undefined): Promise<boolean> {
    if (this.stored !== previous) return false;
    this.stored = position;
    return true;
  }
}

class Replay extends ReplayedDestructions {
  readonly destroyed: string[] = [];
  protected async destroy({ position }: RecordedEvent): Promise<void> {
    this.destroyed.push(position);
  }
}

describe('replayed destructions', () => {
  let folder: string;
  let store: EmbeddedEventStore;
  const positions = new Positions();
  const health = () => new Health();
  const replays: Replay[] = [];
  const start = () => {
    const replay = new Replay(store, store.leases, positions, health(), createLogger('silent'), NAME, ['thing']);
    replays.push(replay);
    replay.onApplicationBootstrap();
    return replay;
  };
  const append = async (n: number) => {
    const ids = { tenantId: 't', requestId: 'r', actor: 'a', operation: 'o', correlationId: 'r', causationId: 'r' };
    const metadata = { ...ids, occurredAt: '2026-01-02T03:04:05.678Z', partitionKey: 't' };
    const event = chainEvent(CHAIN_START, { id: `e${n}`, type: 'Happened', schemaVersion: 1, data: {}, metadata });
    await store.append(`thing-${n}`, [event], -1);
  };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-destructions-'));
    store = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
    positions.stored = undefined;
  });
  afterEach(async () => {
    for (const replay of replays.splice(0)) await replay.beforeApplicationShutdown();
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('begin again at the position of an older copy that is restored while the process runs', async () => {
    await append(1);
    const replay = start();
    await waitUntil(() => positions.stored === '1');
    await append(2);
    await waitUntil(() => positions.stored === '2');
    // The key that the second event destroyed is back.
    positions.stored = '1';
    await append(3);
    await waitUntil(() => positions.stored === '3', { timeoutMs: 5000 });
    expect(replay.destroyed).toEqual(['1', '2', '3', '2', '3']);
  });

  it('begin at the first event when the position is beyond the head, and replace it', async () => {
    await append(1);
    positions.stored = '7';
    const replay = start();
    await waitUntil(() => positions.stored === '1');
    expect(replay.destroyed).toEqual(['1']);
  });

  it('continue from the position without destroying again', async () => {
    for (const n of [1, 2]) await append(n);
    positions.stored = '1';
    const replay = start();
    await waitUntil(() => positions.stored === '2');
    expect(replay.destroyed).toEqual(['2']);
  });
});
