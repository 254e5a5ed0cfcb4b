import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { FeedMessage, OutgoingMessage } from '../message-bus.js';
import { Broker, type BrokerOptions } from './broker.js';
import type { InProcessBus } from './in-process-bus.js';

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const end = Date.now() + 15_000; !(await condition()); await new Promise((resolve) => setTimeout(resolve, 1)))
    if (Date.now() > end) throw new Error('the condition was never met');
};
const event = (n: number): OutgoingMessage => ({ id: `event-${n}`, subject: 'event.test.happened', data: { n } });
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const numbers = (messages: FeedMessage[]) => messages.map((message) => (message.data as { n: number }).n);

describe('in-process broker', () => {
  let folder: string;
  let broker: Broker;
  let bus: InProcessBus;
  let errors: unknown[];

  const open = (options: Partial<BrokerOptions> = {}) =>
    Broker.open({ file: join(folder, 'feed.db'), onError: (_, error) => errors.push(error), ...options });
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
    broker = await open();
    bus = broker.connect();
  });
  afterEach(async () => {
    await broker.close();
    rmSync(folder, { recursive: true });
    expect(errors).toEqual([]);
  });

  const startService = async (service: string) => {
    const { port1, port2 } = new MessageChannel();
    broker.connectPort(port1);
    const worker = new Worker(new URL('./service.worker.mjs', import.meta.url), {
      workerData: { port: port2, service },
      transferList: [port2],
      execArgv: ['--no-warnings'],
    });
    const exited = new Promise<number>((resolve) => worker.once('exit', resolve));
    worker.once('error', (error) => errors.push(error));
    await until(() => broker.serves(`op.${service}.leave`) || errors.length > 0);
    return { worker, exited };
  };

  it('numbers the messages of a file made anew above those of the file that was lost', async () => {
    const publishAndSee = async () => {
      const { got, consumer } = collect('analytics');
      await bus.publish([event(1), event(1), event(2)]);
      await until(() => got.length === 2);
      await consumer.close();
      return got.map(({ sequence }) => Number(sequence));
    };
    const before = await publishAndSee();
    await broker.close();
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `feed.db${end}`), { force: true });
    broker = await open();
    bus = broker.connect();
    const after = await publishAndSee();
    expect(after[0]).toBeGreaterThan(before[1]!);
    expect(after[1]).toBe(after[0]! + 1);
    expect(after.every(Number.isSafeInteger)).toBe(true);
  });

  it('tells the server whether the caller has checked the data in this process', async () => {
    bus.serve('op.test.checked', async (_data, _headers, _from, isChecked) => ({ ok: true, data: isChecked }));
    const ask = (options: object) => bus.request('op.test.checked', {}, { timeoutMs: 5000, ...options });
    expect(await ask({ isChecked: true })).toEqual({ ok: true, data: true });
    expect(await ask({})).toEqual({ ok: true, data: false });
  });

  it('connects two services in two threads: request, reply, publish, consume, leave', async () => {
    const services = [await startService('dids'), await startService('issuance')];
    const offer = (id: string) =>
      bus.request('op.issuance.offer', { id }, { headers: { tenant: 'tenant-1' }, timeoutMs: 5000 });
    expect(await offer('did-1')).toEqual({
      ok: true,
      data: { did: { id: 'did-1', tenant: 'tenant-1' }, offered: 'did-1' },
    });
    await Promise.all(range(2, 40).map((n) => offer(`did-${n}`)));
    const seen = async () => {
      const reply = await bus.request<string[]>('op.issuance.seen', {}, { timeoutMs: 5000 });
      return reply.ok ? reply.data : [];
    };
    await until(async () => (await seen()).length >= 40);
    expect(new Set(await seen())).toEqual(new Set(range(1, 40).map((n) => `did-${n}`)));

    for (const name of ['dids', 'issuance']) await bus.request(`op.${name}.leave`, {}, { timeoutMs: 5000 });
    expect(await Promise.all(services.map(({ exited }) => exited))).toEqual([0, 0]);
    await expect(offer('did-41')).rejects.toMatchObject({ reason: 'no-responder' });
    // Its consumer is free for another bus, and at its checkpoint.
    const taken = collect('issuance');
    await bus.publish([{ ...event(50), subject: 'event.dids.did-created' }]);
    await until(() => taken.got.length > 0);
    expect(numbers(taken.got)).toEqual([50]);
  });

  it('forgets a thread that dies: its subjects have no responder and its consumers can be taken over', async () => {
    const { worker } = await startService('issuance');
    await bus.publish([{ ...event(1), subject: 'event.dids.did-created' }]);
    await worker.terminate();
    const taken = collect('issuance');
    await until(() => taken.got.length + Number(taken.consumer.health.acknowledged ?? 0) >= 1);
    await until(() => !broker.serves('op.issuance.offer'));
    await expect(bus.request('op.issuance.offer', {}, { timeoutMs: 5000 })).rejects.toMatchObject({
      reason: 'no-responder',
    });
  });

  it('reads a backlog longer than its tail from the file and goes on with new messages, in order', async () => {
    await broker.close();
    broker = await open({ tailLength: 8 });
    bus = broker.connect();
    await bus.publish(range(1, 300).map(event));
    const { got } = collect('slow');
    for (const n of range(301, 330)) await bus.publish([event(n)]);
    await until(() => got.length >= 330);
    expect(numbers(got)).toEqual(range(1, 330));
  });

  it('finds everything acknowledged in the files as a crash leaves them', async () => {
    const { got } = collect('before');
    await Promise.all(range(1, 50).map((n) => bus.publish([event(n)])));
    await until(() => got.length === 50);
    const crashed = join(folder, 'crashed');
    mkdirSync(crashed);
    for (const name of ['feed.db', 'feed.db-wal']) cpSync(join(folder, name), join(crashed, name));
    const revived = await open({ file: join(crashed, 'feed.db') });
    const again = revived.connect();
    const before = collect('before', again);
    const never = collect('never', again);
    await again.publish([event(50), event(51)]);
    await until(() => never.got.length >= 51 && numbers(before.got).includes(51));
    expect(numbers(never.got).sort((a, b) => a - b)).toEqual(range(1, 51));
    await revived.close();
  });

  it('prunes what every consumer acknowledged and the window no longer keeps, never the newest', async () => {
    await broker.close();
    let now = 1_000_000;
    // Without a tail, so that what consumers get is what the file has.
    broker = await open({ now: () => now, keepMs: 1000, pruneEvery: 1, tailLength: 0 });
    bus = broker.connect();
    const fast = collect('fast');
    const stuck = bus.consume({ name: 'stuck', subjects: ['event.>'], retry: { initialDelayMs: 60_000 } }, async () => {
      throw new Error('stuck');
    });
    const kept = async (reader: string) => {
      const reading = collect(reader);
      const head = await bus.head();
      await until(() => reading.got.at(-1)?.sequence === head);
      await reading.consumer.close();
      await broker.forgetConsumer(reader);
      return numbers(reading.got);
    };
    await bus.publish(range(1, 5).map(event));
    await until(() => fast.got.length === 5 && !stuck.health.healthy);
    now += 2000;
    await bus.publish([event(6)]);
    expect(await kept('reader-1')).toEqual(range(1, 6));

    await stuck.close();
    await broker.forgetConsumer('stuck');
    const sixth = await bus.head();
    await until(() => fast.consumer.health.acknowledged === sixth);
    await bus.publish([event(7)]);
    // The checkpoint travelled with message 7; the pruning after it saw it.
    expect(await kept('reader-2')).toEqual([6, 7]);
    // Within the window an id is known.
    await bus.publish([event(6), event(8)]);
    expect(await kept('reader-3')).toEqual([6, 7, 8]);
  });

  it('refuses a second holder of a consumer until the first has left', async () => {
    const first = collect('one');
    const other = broker.connect();
    const second = other.consume(
      { name: 'one', subjects: ['event.>'], retry: { initialDelayMs: 1, maxDelayMs: 2 } },
      async () => undefined,
    );
    await until(() => !second.health.healthy);
    expect(second.health.error).toBe('consumer one is already running');
    await first.consumer.close();
    await until(() => second.health.healthy);
    await other.close();
  });
});
