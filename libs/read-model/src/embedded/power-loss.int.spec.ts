import { cp, mkdir, mkdtemp, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHAIN_START, chainEvent, EmbeddedEventStore, type NewEvent } from '@attestry/event-store';
import type { SelectiveProjection } from '../read-model.js';
import { EmbeddedReadModels } from './embedded-read-models.js';

interface Tables {
  note: { id: string };
}
const notes: SelectiveProjection<Tables> = {
  name: 'notes',
  version: 1,
  categories: ['note'],
  types: ['NoteTaken'],
  tables: ['note'],
  create: (db) =>
    db.schema
      .createTable('note')
      .addColumn('id', 'text', (c) => c.notNull())
      .execute(),
  project: async (trx, events) => {
    await trx
      .insertInto('note')
      .values(events.map(({ id }) => ({ id })))
      .execute();
  },
};
const EVENTS = 12;

describe('a read model whose last transactions a power loss took', () => {
  let folder: string;
  let store: EmbeddedEventStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-power-loss-'));
    store = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  const taken = (id: string): NewEvent => {
    const ids = { tenantId: 't1', requestId: 'r1', actor: 'a', operation: 'o', correlationId: 'r1', causationId: 'r1' };
    const metadata = { ...ids, occurredAt: '2026-01-02T03:04:05.678Z', partitionKey: 't1' };
    return chainEvent(CHAIN_START, { id, type: 'NoteTaken', schemaVersion: 1, data: {}, metadata });
  };
  const open = async (file: string) => {
    const readModels = await EmbeddedReadModels.openFile({ file, eventStore: store, leases: store.leases });
    const running = await readModels.start(notes);
    const rows = async () =>
      (await running.db.selectFrom('note').select('id').orderBy('id').execute()).map(({ id }) => id);
    return { readModels, running, rows };
  };

  it('never has a checkpoint ahead of its rows, and projects the lost events again', async () => {
    const file = join(folder, 'read-models.db');
    const { readModels, running } = await open(file);
    const ids: string[] = [];
    for (let n = 0; n < EVENTS; n++) {
      ids.push(`note ${String(n).padStart(2, '0')}`);
      const { position } = await store.append(`note-t1+${n}`, [taken(ids.at(-1)!)], -1);
      expect(await running.waitFor(position, 5000)).toBe(true);
    }
    const { size } = await stat(`${file}-wal`);
    const left = new Set<number>();
    // The bytes that reached the disk end anywhere, also within a transaction or a frame.
    for (let cut = 0; cut < 10; cut++) {
      const copy = join(folder, `copy ${cut}`);
      await mkdir(copy);
      for (const name of ['read-models.db', 'read-models.db-wal']) await cp(join(folder, name), join(copy, name));
      await truncate(join(copy, 'read-models.db-wal'), size - Math.floor((size * cut) / 25) - cut);
      // The lease of the process that runs keeps this one from projecting: what it reads is what was left.
      const lost = await open(join(copy, 'read-models.db'));
      const found = await lost.rows();
      const [checkpoint] = await lost.readModels.checkpoints();
      const { events } = await store.readAll({ limit: Number(checkpoint?.position ?? 0) || 1 });
      expect(found).toEqual(checkpoint ? events.map(({ id }) => id) : []);
      left.add(found.length);
      await lost.readModels.close();
    }
    expect(left.size).toBeGreaterThan(2);
    await readModels.close();

    for (let cut = 0; cut < 10; cut++) {
      const again = await open(join(folder, `copy ${cut}`, 'read-models.db'));
      expect(await again.running.waitForHead(5000)).toBe(true);
      expect(await again.rows()).toEqual(ids);
      await again.readModels.close();
    }
  }, 30_000);
});
