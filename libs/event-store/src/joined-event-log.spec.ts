import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckpointBeyondHead, REBUILD_READ_MODEL, refuseBeyondHead } from './checkpoint-beyond-head.js';
import { CHAIN_START, chainEvent } from './chain.js';
import { EmbeddedEventStore } from './embedded/embedded-event-store.js';
import type { RecordedEvent } from './event-store.js';
import { JoinedEventLog } from './joined-event-log.js';
import { EventBatches } from './worker/event-batches.js';

let folder: string;
let [first, second] = [] as unknown as [EmbeddedEventStore, EmbeddedEventStore];
let joined: JoinedEventLog;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attestry-joined-'));
  const open = (name: string) => EmbeddedEventStore.openFile({ file: join(folder, name), exclusive: true });
  [first, second] = [await open('first.db'), await open('second.db')];
  joined = new JoinedEventLog(first, second);
});
afterEach(async () => {
  await Promise.all([first.close(), second.close()]);
  await rm(folder, { recursive: true });
});

let count = 0;
const add = async (store: EmbeddedEventStore, stream: string) => {
  const id = `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
  const last = await store.readStream(stream, { direction: 'backwards', limit: 1 });
  const about = { tenantId: 't', requestId: 'r', actor: 'a', operation: 'o', correlationId: 'r', causationId: 'r' };
  const metadata = { ...about, occurredAt: '2026-11-21T10:00:00.000Z', partitionKey: 't' };
  const event = chainEvent(last[0]?.chain ?? CHAIN_START, { id, type: 'Added', schemaVersion: 1, data: {}, metadata });
  await store.append(stream, [event], last[0]?.revision ?? -1);
  return id;
};
const idsOf = (events: readonly RecordedEvent[]) => events.map(({ id }) => id);

describe('joined event logs', () => {
  it('are empty without events', async () => {
    expect(await joined.readAll({ limit: 10 })).toEqual({ events: [], atEnd: true });
    expect(await joined.head()).toBeUndefined();
  });

  it('are read page by page, each event once, from wherever a page ended', async () => {
    const ids = [await add(first, 'a-1'), await add(first, 'a-1'), await add(first, 'a-2')];
    ids.push(await add(second, 'b-1'), await add(second, 'b-1'));
    for (const limit of [1, 2, 3, 4, 10]) {
      const seen: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await joined.readAll({ ...(after !== undefined && { after }), limit });
        expect(page.events.length).toBeLessThanOrEqual(limit);
        seen.push(...idsOf(page.events));
        after = page.next!;
        if (page.atEnd) break;
      }
      expect(seen).toEqual(ids);
    }
    expect(idsOf((await joined.readAll({ categories: ['b'], limit: 10 })).events)).toEqual(ids.slice(3));
  });

  it('have a position in each: every event continues behind itself', async () => {
    const ids = [await add(first, 'a-1'), await add(second, 'b-1'), await add(second, 'b-1')];
    const { events } = await joined.readAll({ limit: 10 });
    for (const [index, { position }] of events.entries())
      expect(idsOf((await joined.readAll({ after: position, limit: 10 })).events)).toEqual(ids.slice(index + 1));
    expect(joined.comparePositions(events.at(-1)!.position, (await joined.head())!)).toBe(0);
  });

  it('compare: reached is what is reached in both, beyond what is beyond in one', () => {
    expect(joined.comparePositions('3|4', '3|4')).toBe(0);
    expect(joined.comparePositions('4|4', '3|4')).toBeGreaterThan(0);
    expect(joined.comparePositions('4|3', '3|4')).toBeLessThan(0);
    expect(joined.comparePositions('3|4', '4|3')).toBeLessThan(0);
    expect(joined.isBeyond('4|3', '3|4')).toBe(true);
    expect(joined.isBeyond('3|4', '3|4')).toBe(false);
    expect(joined.isBeyond('|1', undefined)).toBe(true);
    const refuse = () => refuseBeyondHead(joined, 'rows', '4|3', '3|4', REBUILD_READ_MODEL);
    expect(refuse).toThrow(CheckpointBeyondHead);
  });

  it('accept a position of the first alone', async () => {
    await add(first, 'a-1');
    const [left, right] = [await add(first, 'a-1'), await add(second, 'b-1')];
    expect(idsOf((await joined.readAll({ after: '1', limit: 10 })).events)).toEqual([left, right]);
    expect(joined.comparePositions('1', '1|1')).toBeLessThan(0);
    expect(joined.comparePositions('2', '1')).toBeGreaterThan(0);
  });

  it('are subscribed together, one batch after the other, from a position on', async () => {
    const before = await add(first, 'a-1');
    await add(second, 'b-1');
    const after = (await joined.readAll({ limit: 1 })).next!;
    const abort = new AbortController();
    const batches = new EventBatches(joined, { after }, abort.signal);
    const seen: string[] = [];
    let reached = after;
    const readUntil = async (size: number) => {
      while (seen.length < size) {
        const batch = await batches.next();
        seen.push(...idsOf(batch!.events));
        reached = batch!.next;
      }
    };
    await readUntil(1);
    const added = [await add(first, 'a-1'), await add(second, 'b-2'), await add(first, 'a-2')];
    await readUntil(4);
    abort.abort();
    await batches.close();
    expect(seen).not.toContain(before);
    expect(seen.slice(1).sort()).toEqual(added.sort());
    expect(joined.comparePositions(reached, (await joined.head())!)).toBe(0);
  });

  it('a batch that was refused ends the subscription of both', async () => {
    await add(first, 'a-1');
    await add(second, 'b-1');
    const dropped = Promise.withResolvers<Error>();
    let batches = 0;
    const subscription = joined.subscribe(
      {},
      {
        onEvents: async () => {
          batches += 1;
          throw new Error('refused');
        },
        onDropped: dropped.resolve,
      },
    );
    expect((await dropped.promise).message).toBe('refused');
    await subscription.close();
    await add(second, 'b-1');
    expect(batches).toBe(1);
  });
});
