import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { anEvent } from '../testing.js';
import type { NewEvent, StreamAppend, UnitPart, UnitWrite } from '../event-store.js';
import { AppendTooLarge, EventStoreUnavailable, MAX_APPEND_BYTES, WrongExpectedRevision } from '../event-store.js';
import { EmbeddedEventStore } from './embedded-event-store.js';

const at = (occurredAt: string, id: string): NewEvent => anEvent({ id, occurredAt });

describe('EmbeddedEventStore', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-embedded-'));
    file = join(folder, 'events.db');
  });
  afterEach(() => rm(folder, { recursive: true }));

  describe('a unit of work', () => {
    const append = (stream: string, id: string): StreamAppend => ({
      stream,
      events: [at('2026-01-01T00:00:00.000Z', id)],
      expected: -1,
    });
    const partOf = (part: UnitPart): UnitWrite => ({ kind: 'key', store: async () => {}, partOf: async () => part });

    it('that the database refuses has stored nothing, and each part learns it', async () => {
      const store = await EmbeddedEventStore.openFile({ file });
      const settled: (Error | undefined)[] = [];
      const outcome = {
        stored: () => void settled.push(undefined),
        refused: (error: Error) => void settled.push(error),
      };
      // `events.id` is not null.
      const refused = { job: 'append', args: ['op-c', 'op', -1, null, 'Happened', 1, '{}', '{}'], ...outcome };
      const accepted = { job: 'append', args: ['op-d', 'op', -1, 'd', 'Happened', 1, '{}', '{}'], ...outcome };
      const commit = (...parts: UnitPart[]) =>
        store.commit({ writes: parts.map(partOf), appends: [append('op-a', 'a'), append('op-b', 'b')] });
      await expect(commit(accepted, refused)).rejects.toThrow(EventStoreUnavailable);
      expect(settled).toEqual([expect.any(Error), expect.any(Error)]);
      expect(await store.head()).toBeUndefined();
      await commit(accepted);
      expect(settled.slice(2)).toEqual([undefined]);
      expect((await store.readAll({ limit: 10 })).events.map(({ stream }) => stream)).toEqual(['op-d', 'op-a', 'op-b']);
      await store.close();
    });

    it('with an append that is too large stores nothing elsewhere', async () => {
      const store = await EmbeddedEventStore.openFile({ file });
      const stored: string[] = [];
      const elsewhere: UnitWrite = {
        kind: 'single-use',
        store: async () => void stored.push('spent'),
        partOf: async () => undefined,
      };
      const large = { ...append('op-b', 'b'), events: [anEvent({ data: 'x'.repeat(MAX_APPEND_BYTES) })] };
      const commit = store.commit({ writes: [elsewhere], appends: [append('op-a', 'a'), large] });
      await expect(commit).rejects.toThrow(AppendTooLarge);
      expect(stored).toEqual([]);
      await store.close();
    });
  });

  it('refuses a file of a newer release', async () => {
    await (await EmbeddedEventStore.openFile({ file })).close();
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 99');
    db.close();
    await expect(EmbeddedEventStore.openFile({ file })).rejects.toThrow('schema version 99');
  });

  it('discards older events, and reuses neither revisions nor positions', async () => {
    const store = await EmbeddedEventStore.openFile({ file });
    await store.append('op-a', [at('2026-01-01T00:00:00.000Z', '1'), at('2026-01-02T00:00:00.000Z', '2')], -1);
    const last = await store.append('op-b', [at('2026-01-03T00:00:00.000Z', '3')], -1);
    expect(await store.discardBefore('2026-01-02T00:00:00.000Z')).toBe(1);
    expect((await store.readStream('op-a')).map((event) => event.revision)).toEqual([1]);
    expect(await store.discardBefore('2026-02-01T00:00:00.000Z')).toBe(2);
    expect((await store.readAll({ limit: 10 })).events).toEqual([]);
    await expect(store.append('op-b', [at('2026-03-01T00:00:00.000Z', '4')], -1)).rejects.toThrow(
      WrongExpectedRevision,
    );
    const next = await store.append('op-b', [at('2026-03-01T00:00:00.000Z', '4')], 0);
    expect(next.revision).toBe(1);
    expect(store.comparePositions(next.position, last.position)).toBeGreaterThan(0);
    await store.close();
  });

  it('discards by age when it opens', async () => {
    const first = await EmbeddedEventStore.openFile({ file });
    await first.append('op-a', [at('2020-01-01T00:00:00.000Z', '1'), at(new Date().toISOString(), '2')], -1);
    await first.close();
    const store = await EmbeddedEventStore.openFile({ file, retentionDays: 400 });
    expect((await store.readStream('op-a')).map((event) => event.id)).toEqual(['2']);
    await store.close();
  });

  it('voids the leases of an earlier process only for the sole owner of the folder', async () => {
    const crashed = await EmbeddedEventStore.openFile({ file });
    const old = (await crashed.leases.acquire('l', 'a', 60_000))!;
    await crashed.close();
    const second = await EmbeddedEventStore.openFile({ file });
    expect(await second.leases.isHeld(old)).toBe(true);
    await second.close();
    const sole = await EmbeddedEventStore.openFile({ file, exclusive: true });
    expect((await sole.leases.acquire('l', 'b', 60_000))!.epoch).toBeGreaterThan(old.epoch);
    await sole.close();
  });

  it('is unavailable after it was closed', async () => {
    const store = await EmbeddedEventStore.openFile({ file });
    await store.close();
    await expect(store.head()).rejects.toBeInstanceOf(EventStoreUnavailable);
    await expect(store.append('op-a', [at('2026-01-01T00:00:00.000Z', '1')], -1)).rejects.toBeInstanceOf(
      EventStoreUnavailable,
    );
  });

  it('finds events that another connection appended to the same file', async () => {
    const [here, there] = [await EmbeddedEventStore.openFile({ file }), await EmbeddedEventStore.openFile({ file })];
    const seen = new Promise<string>((resolve, reject) => {
      here.subscribe({}, { onEvents: async ([event]) => event && resolve(event.id), onDropped: reject });
    });
    await there.append('op-a', [at('2026-01-01T00:00:00.000Z', 'from-there')], -1);
    expect(await seen).toBe('from-there');
    await Promise.all([here.close(), there.close()]);
  });

  it('serves readAll from memory for the sole owner of the folder, the same pages as from the file', async () => {
    const sole = await EmbeddedEventStore.openFile({ file, exclusive: true });
    const time = '2026-01-01T00:00:00.000Z';
    await sole.append('op-a', [at(time, '1'), at(time, '2')], -1);
    await sole.append('other-a', [at(time, '3')], -1);
    await sole.append('op-a', [at(time, '4')], 1);
    const other = await EmbeddedEventStore.openFile({ file });
    for (const categories of [undefined, ['op'], ['other'], ['none']])
      for (const limit of [1, 2, 10])
        for (const after of [undefined, '1', '3', '4'])
          expect(await sole.readAll({ after, limit, categories })).toEqual(
            await other.readAll({ after, limit, categories }),
          );
    const db = new DatabaseSync(file);
    db.exec('DELETE FROM events');
    db.close();
    expect((await sole.readAll({ limit: 10 })).events).toHaveLength(4);
    expect((await other.readAll({ limit: 10 })).events).toEqual([]);
    await Promise.all([sole.close(), other.close()]);
    await expect(sole.readAll({ limit: 10 })).rejects.toBeInstanceOf(EventStoreUnavailable);
  });

  it('refuses a position that is not its own', async () => {
    const store = await EmbeddedEventStore.openFile({ file });
    await expect(store.readAll({ after: 'C:1/P:1', limit: 1 })).rejects.toThrow(RangeError);
    await store.close();
  });
});
