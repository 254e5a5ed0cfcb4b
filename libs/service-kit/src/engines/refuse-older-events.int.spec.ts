import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHAIN_START, chainEvent, CheckpointBeyondHead, EmbeddedEventStore } from '@attestry/event-store';
import { refuseOlderEvents } from './refuse-older-events.js';

describe('events that are older than their checkpoints and projections', () => {
  let folder: string;
  let store: EmbeddedEventStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-older-'));
    store = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
    const metadata = {
      tenantId: 't',
      requestId: 'r',
      actor: 'a',
      operation: 'o',
      correlationId: 'r',
      causationId: 'r',
    };
    const event = { id: 'e1', type: 'Happened', schemaVersion: 1, data: {} };
    const more = { occurredAt: '2026-01-02T03:04:05.678Z', partitionKey: 't' };
    await store.append('thing-1', [chainEvent(CHAIN_START, { ...event, metadata: { ...metadata, ...more } })], -1);
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  const rows = (...positions: string[]) => ({
    checkpoints: async () => positions.map((position, at) => ({ name: `list-${at}`, position })),
  });

  it('are refused at startup, with the name of what is ahead and the remedy', async () => {
    await refuseOlderEvents(store, store.checkpoints, rows(), 0);
    await store.checkpoints.write('a.publisher', '1');
    await refuseOlderEvents(store, store.checkpoints, rows('1'), 0);
    const projection = refuseOlderEvents(store, store.checkpoints, rows('1', '2'), 0);
    await expect(projection).rejects.toThrow(
      /checkpoint 2 of list-1 is beyond the head .*, 1: .*Delete the read models/,
    );
    await store.checkpoints.write('b.publisher', '7');
    const reaction = refuseOlderEvents(store, store.checkpoints, rows('1'), 0);
    await expect(reaction).rejects.toThrow(CheckpointBeyondHead);
    await expect(reaction).rejects.toThrow(/checkpoint 7 of b\.publisher .* Set the checkpoint to the head/);
  });

  it('are waited for when a replica may be behind', async () => {
    await store.checkpoints.write('a.publisher', '1');
    let calls = 0;
    const lagging = Object.assign(Object.create(store) as EmbeddedEventStore, {
      head: async () => (++calls < 2 ? undefined : '1'),
    });
    await refuseOlderEvents(lagging, store.checkpoints, rows(), 5000);
    expect(calls).toBe(2);
  });
});
