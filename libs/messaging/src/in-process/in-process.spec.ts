import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { FeedMessage, OutgoingMessage } from '../message-bus.js';
import { InProcessBus, type InProcessBusOptions } from './in-process-bus.js';

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const end = Date.now() + 15_000; !(await condition()); await new Promise((resolve) => setTimeout(resolve, 1)))
    if (Date.now() > end) throw new Error('the condition was never met');
};
const event = (n: number): OutgoingMessage => ({ id: `event-${n}`, subject: 'event.test.happened', data: { n } });
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const numbers = (messages: FeedMessage[]) => messages.map((message) => (message.data as { n: number }).n);

describe('in-process bus', () => {
  let folder: string;
  let bus: InProcessBus;
  let errors: unknown[];

  const open = (options: Partial<InProcessBusOptions> = {}) =>
    InProcessBus.open({ file: join(folder, 'feed.db'), onError: (_, error) => errors.push(error), ...options });
  const collect = (name: string, on: InProcessBus = bus) => {
    const got: FeedMessage[] = [];
    const consumer = on.consume({ name, subjects: ['event.>'], batchSize: 10 }, async (messages) => {
      got.push(...messages);
    });
    return { got, consumer };
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'attestry-broker-'));
    errors = [];
    bus = await open();
  });
  afterEach(async () => {
    await bus.close();
    rmSync(folder, { recursive: true });
    expect(errors).toEqual([]);
  });

  it('numbers the messages of a recreated file above those of the lost file', async () => {
    const publishAndSee = async () => {
      const { got, consumer } = collect('analytics');
      await bus.publish([event(1), event(1), event(2)]);
      await until(() => got.length === 2);
      await consumer.close();
      return got.map(({ sequence }) => Number(sequence));
    };
    const before = await publishAndSee();
    await bus.close();
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `feed.db${end}`), { force: true });
    bus = await open();
    const after = await publishAndSee();
    expect(after[0]).toBeGreaterThan(before[1]!);
    expect(after[1]).toBe(after[0]! + 1);
    expect(after.every(Number.isSafeInteger)).toBe(true);
  });

  it('reads a backlog longer than its tail from the file and continues with new messages, in order', async () => {
    await bus.close();
    bus = await open({ tailLength: 8 });
    await bus.publish(range(1, 300).map(event));
    const { got } = collect('slow');
    for (const n of range(301, 330)) await bus.publish([event(n)]);
    await until(() => got.length >= 330);
    expect(numbers(got)).toEqual(range(1, 330));
  });

  it('finds all acknowledged messages in the files after a crash', async () => {
    const { got } = collect('before');
    await Promise.all(range(1, 50).map((n) => bus.publish([event(n)])));
    await until(() => got.length === 50);
    const crashed = join(folder, 'crashed');
    mkdirSync(crashed);
    for (const name of ['feed.db', 'feed.db-wal']) cpSync(join(folder, name), join(crashed, name));
    const revived = await open({ file: join(crashed, 'feed.db') });
    const before = collect('before', revived);
    const never = collect('never', revived);
    await revived.publish([event(50), event(51)]);
    await until(() => never.got.length >= 51 && numbers(before.got).includes(51));
    expect(numbers(never.got).sort((a, b) => a - b)).toEqual(range(1, 51));
    await revived.close();
  });

  it('writes the last checkpoint of consumers that wait, also of those for which no message was', async () => {
    const { got } = collect('busy');
    const idle = bus.consume({ name: 'idle', subjects: ['other.>'] }, async () => {});
    await bus.publish(range(1, 3).map(event));
    await until(() => got.length === 3);
    const head = await bus.head();
    const db = new DatabaseSync(join(folder, 'feed.db'), { readOnly: true });
    const behind = db.prepare('SELECT name FROM consumer WHERE acknowledged < ?');
    await until(() => behind.all(Number(head)).length === 0);
    db.close();
    await idle.close();
  });

  const deleteConsumer = (name: string) => {
    const db = new DatabaseSync(join(folder, 'feed.db'));
    db.prepare('DELETE FROM consumer WHERE name = ?').run(name);
    db.close();
  };

  it('prunes messages that every consumer acknowledged and the deduplication window no longer needs, never the newest', async () => {
    await bus.close();
    let now = 1_000_000;
    // Without a tail, so that what consumers get is what the file has.
    bus = await open({ now: () => now, keepMs: 1000, pruneEvery: 1, tailLength: 0 });
    const fast = collect('fast');
    const stuck = bus.consume({ name: 'stuck', subjects: ['event.>'], retry: { initialDelayMs: 60_000 } }, async () => {
      throw new Error('stuck');
    });
    const kept = async (reader: string) => {
      const reading = collect(reader);
      const head = await bus.head();
      await until(() => reading.got.at(-1)?.sequence === head);
      await reading.consumer.close();
      deleteConsumer(reader);
      return numbers(reading.got);
    };
    await bus.publish(range(1, 5).map(event));
    await until(() => fast.got.length === 5 && !stuck.health.healthy);
    now += 2000;
    await bus.publish([event(6)]);
    expect(await kept('reader-1')).toEqual(range(1, 6));

    await stuck.close();
    deleteConsumer('stuck');
    const sixth = await bus.head();
    await until(() => fast.consumer.health.acknowledged === sixth);
    await bus.publish([event(7)]);
    // The checkpoint travelled with message 7; the pruning after it saw it.
    expect(await kept('reader-2')).toEqual([6, 7]);
    // Within the window an id is known.
    await bus.publish([event(6), event(8)]);
    expect(await kept('reader-3')).toEqual([6, 7, 8]);
  });

  it('refuses a second holder of a consumer until the first has closed', async () => {
    const first = collect('one');
    const second = bus.consume(
      { name: 'one', subjects: ['event.>'], retry: { initialDelayMs: 1, maxDelayMs: 2 } },
      async () => undefined,
    );
    await until(() => !second.health.healthy);
    expect(second.health.error).toBe('consumer one is already running');
    await first.consumer.close();
    await until(() => second.health.healthy);
    await second.close();
  });

  it('supports request, publish and consume between two services, and fails with no-responder afterwards', async () => {
    const seen: string[] = [];
    const create = bus.serve('op.dids.create-did', async (data, { tenant }) => {
      const { id } = data as { id: string };
      await bus.publish([{ id, subject: 'event.dids.did-created', data: { id } }]);
      return { ok: true, data: { id, tenant } };
    });
    const consumer = bus.consume({ name: 'issuance', subjects: ['event.dids.>'] }, async (messages) => {
      seen.push(...messages.map(({ id }) => id));
    });
    const offer = bus.serve('op.issuance.offer', async (data, headers) => {
      const did = await bus.request('op.dids.create-did', data, { headers, timeoutMs: 5000 });
      return { ok: true, data: { did: did.ok && did.data } };
    });
    const ask = (id: string) =>
      bus.request('op.issuance.offer', { id }, { headers: { tenant: 'tenant-1' }, timeoutMs: 5000 });
    expect(await ask('did-1')).toEqual({ ok: true, data: { did: { id: 'did-1', tenant: 'tenant-1' } } });
    await Promise.all(range(2, 40).map((n) => ask(`did-${n}`)));
    await until(() => seen.length >= 40);
    expect(new Set(seen)).toEqual(new Set(range(1, 40).map((n) => `did-${n}`)));

    await Promise.all([create, consumer, offer].map((one) => one.close()));
    await expect(ask('did-41')).rejects.toMatchObject({ reason: 'no-responder' });
    // Its consumer is free, and at its checkpoint.
    const taken = collect('issuance');
    await bus.publish([{ ...event(50), subject: 'event.dids.did-created' }]);
    await until(() => taken.got.length > 0);
    expect(numbers(taken.got)).toEqual([50]);
  });

  it('returns the reply of a request that is in progress when its server closes', async () => {
    let finish!: () => void;
    const finishing = new Promise<void>((resolve) => (finish = resolve));
    const serving = bus.serve('op.dids.create-did', async () => {
      await finishing;
      return { ok: true, data: 'done' };
    });
    const reply = bus.request('op.dids.create-did', {}, { timeoutMs: 5000 });
    // Routed already, though the handler has not begun.
    const closed = serving.close();
    await expect(bus.request('op.dids.create-did', {}, { timeoutMs: 5000 })).rejects.toMatchObject({
      reason: 'no-responder',
    });
    finish();
    expect(await reply).toEqual({ ok: true, data: 'done' });
    await closed;
  });
});
