import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anEvent } from './testing.js';
import { UnknownEventType } from './aggregate.js';
import { EmbeddedEventStore } from './embedded/embedded-event-store.js';
import type { NewEvent, RecordedEvent } from './event-store.js';
import { CheckpointedSubscription, type CheckpointedOptions } from './subscriptions.js';
import { StaleEpoch } from './worker/leased-worker.js';

const until = async (condition: () => boolean) => {
  const end = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('the condition did not come true');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

describe('CheckpointedSubscription', () => {
  let folder: string;
  let store: EmbeddedEventStore;
  let n = 0;
  const running: CheckpointedSubscription[] = [];
  const thing = (): NewEvent => anEvent({ id: `id-${++n}`, data: { n } });
  const append = (count: number, category = 'thing') =>
    store.append(`${category}-${++n}`, Array.from({ length: count }, thing), -1);
  const start = (name: string, handle: CheckpointedOptions['handle'], more: Partial<CheckpointedOptions> = {}) => {
    const subscription = new CheckpointedSubscription({
      name,
      store,
      leases: store.leases,
      checkpoints: store.checkpoints,
      categories: ['thing'],
      backOff: { firstMs: 2, maxMs: 20 },
      handle,
      ...more,
    }).start();
    running.push(subscription);
    return subscription;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-subscriptions-'));
    store = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((subscription) => subscription.close()));
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('continues from its checkpoint, without repeating handled events', async () => {
    const seen: string[] = [];
    const handle = async (events: { id: string }[]) => void seen.push(...events.map((event) => event.id));
    await append(3);
    const first = start('a', handle);
    expect(await first.waitForHead(5000)).toBe(true);
    await first.close();
    const { position } = await append(2);
    const second = start('a', handle);
    expect(await second.waitForHead(5000)).toBe(true);
    expect(new Set(seen).size).toBe(5);
    expect(seen).toHaveLength(5);
    expect(second.health).toEqual({ name: 'a', healthy: true, position, caughtUp: true });
    expect(await store.checkpoints.read('a')).toBe(position);
  });

  /** The checkpoints of the store, with the positions written and when. */
  const recordedCheckpoints = () => {
    const written: { position: string; at: number }[] = [];
    const { checkpoints } = store;
    return {
      written,
      checkpoints: {
        read: (name: string) => checkpoints.read(name),
        write: (name: string, position: string, epoch?: number) => {
          written.push({ position, at: performance.now() });
          return checkpoints.write(name, position, epoch);
        },
      },
    };
  };

  it('stores its checkpoint at most once a second, the first at once and the last when no more events follow', async () => {
    const { written, checkpoints } = recordedCheckpoints();
    const subscription = start('a', async () => undefined, { checkpoints, restMs: 0 });
    let last = '';
    for (let count = 0; count < 40; count++) {
      last = (await append(1)).position;
      await subscription.waitFor(last, 5000);
    }
    await until(() => written.at(-1)!.position === last);
    expect(written.map(({ position }) => position)).toEqual(['1', last]);
    expect(written[1]!.at - written[0]!.at).toBeGreaterThanOrEqual(1000);
    await append(1);
    await subscription.waitForHead(5000);
    await subscription.close();
    expect(written.map(({ position }) => position)).toEqual(['1', last, String(Number(last) + 1)]);
  });

  it('stores positions that its filter hid at longer intervals, and none without progress', async () => {
    const { written, checkpoints } = recordedCheckpoints();
    const subscription = start('a', async () => undefined, { checkpoints });
    await append(1);
    await until(() => written.length === 1);
    const { position } = await append(3, 'other');
    expect(await subscription.waitFor(position, 5000)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(written.map((write) => write.position)).toEqual(['1']);
    await subscription.close();
    expect(written.map((write) => write.position)).toEqual(['1', position]);
  });

  it('stores what was handled before a batch that fails, so that only that batch is repeated', async () => {
    const handled: RecordedEvent[] = [];
    let broken = true;
    const subscription = start(
      'a',
      async (events) => {
        if (broken && events.some(({ position }) => position === '3')) throw new Error('away');
        handled.push(...events);
      },
      { batchSize: 1 },
    );
    await append(3);
    await until(() => !subscription.health.healthy);
    expect(await store.checkpoints.read('a')).toBe('2');
    broken = false;
    expect(await subscription.waitForHead(5000)).toBe(true);
    expect(handled.map(({ position }) => position)).toEqual(['1', '2', '3']);
  });

  it('moves past events that its filter excludes', async () => {
    const quiet = start('quiet', async () => undefined);
    const { position } = await append(10, 'other');
    expect(await quiet.waitFor(position, 5000)).toBe(true);
    await quiet.close();
    expect(await store.checkpoints.read('quiet')).toBe(position);
  });

  it('is ready while another process holds the lease, and takes over', async () => {
    const first = start('a', async () => {});
    await until(() => first.health.caughtUp);
    const got: number[] = [];
    const second = start('a', async (events) => void got.push(...events.map(({ revision }) => revision)), {
      leaseMs: 60,
    });
    await until(() => second.health.caughtUp);
    expect(second.health).toEqual({ name: 'a', healthy: true, caughtUp: true });
    await append(2);
    expect(await first.waitForHead(5000)).toBe(true);
    await first.close();
    await append(3);
    await until(() => got.length >= 3);
    expect(got).toEqual([0, 1, 2]);
  });

  it('is unhealthy while its handler fails, skips nothing, stops no other, and recovers', async () => {
    let broken = true;
    let failures = 0;
    const seen: number[] = [];
    const faulty = start(
      'faulty',
      async (events) => {
        if (broken) throw new Error('no disk');
        seen.push(...events.map((event) => event.revision));
      },
      { onError: () => failures++ },
    );
    const fine = start('fine', async () => undefined);
    await append(3);
    await until(() => failures >= 3);
    expect(faulty.health).toMatchObject({ healthy: false, error: 'no disk' });
    expect(await store.checkpoints.read('faulty')).toBeUndefined();
    expect(await fine.waitForHead(5000)).toBe(true);
    expect(fine.health.healthy).toBe(true);
    expect(await faulty.waitForHead(10)).toBe(false);
    broken = false;
    expect(await faulty.waitForHead(5000)).toBe(true);
    expect(seen).toEqual([0, 1, 2]);
    expect(faulty.health).toMatchObject({ healthy: true });
    expect(faulty.health.error).toBeUndefined();
  });

  it('releases its lease before an unknown event type, which is not a fault', async () => {
    const older = start('p', async ([event]) => {
      throw new UnknownEventType(event!);
    });
    await append(1);
    await until(() => older.health.error !== undefined);
    expect(older.health.healthy).toBe(true);
    const newer = start('p', async () => undefined, { leaseMs: 30 });
    expect(await newer.waitForHead(5000)).toBe(true);
  });

  it('handles nothing while its checkpoint is beyond the log, and reports it', async () => {
    await append(3);
    await store.checkpoints.write('restored', '5');
    let failures = 0;
    let handled = 0;
    const subscription = start('restored', async () => void handled++, { onError: () => failures++ });
    await until(() => failures >= 2);
    expect(subscription.health).toMatchObject({
      healthy: false,
      error: expect.stringContaining('checkpoint 5 of restored is beyond the head of the event store, 3'),
    });
    expect(subscription.health.caughtUp).toBe(false);
    expect(handled).toBe(0);
    expect(await store.checkpoints.read('restored')).toBe('5');
  });

  it('reports the head of a log whose events were all discarded', async () => {
    const { position } = await append(3);
    await store.checkpoints.write('old', position);
    expect(await store.discardBefore('2030-01-01T00:00:00.000Z')).toBe(3);
    expect(await store.head()).toBe(position);
    const subscription = start('old', async () => undefined);
    await until(() => subscription.health.caughtUp);
    expect(subscription.health.healthy).toBe(true);
  });

  it('runs under one lease at a time, and hands over', async () => {
    const seen: string[] = [];
    // It keeps its lease on a busy machine too.
    const first = start('one', async () => void seen.push('first'));
    await append(1);
    expect(await first.waitForHead(5000)).toBe(true);
    const second = start('one', async () => void seen.push('second'), { leaseMs: 60 });
    await append(1);
    expect(await first.waitForHead(5000)).toBe(true);
    await first.close();
    await append(1);
    expect(await second.waitForHead(5000)).toBe(true);
    expect(seen).toEqual(['first', 'first', 'second']);
  });

  it('refuses the checkpoint of a stale holder', async () => {
    const old = (await store.leases.acquire('c', 'a', 60_000))!;
    await store.checkpoints.write('c', '5', old.epoch);
    await store.leases.release(old);
    const next = (await store.leases.acquire('c', 'b', 60_000))!;
    await expect(store.checkpoints.write('c', '6', old.epoch)).rejects.toBeInstanceOf(StaleEpoch);
    expect(await store.checkpoints.read('c')).toBe('5');
    await store.checkpoints.write('c', '7', next.epoch);
    expect(await store.checkpoints.read('c')).toBe('7');
  });
});
