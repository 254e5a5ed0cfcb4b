import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipSuite, startEventStoreDbStandIn, waitUntil, type EventStoreDbStandIn } from '@attestry/testing';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { anEvent } from '../testing.js';
import { CHAIN_START, chainEvent } from '../chain.js';
import type { Aggregate } from '../aggregate.js';
import { EmbeddedEventStore } from '../embedded/embedded-event-store.js';
import { describeEventStore, type EventStoreUnderTest } from '../event-store.contract.js';
import {
  EventStoreUnavailable,
  NO_STREAM,
  WrongExpectedRevision,
  type EventStore,
  type NewEvent,
  type Position,
  type RecordedEvent,
  type SubscribeOptions,
} from '../event-store.js';
import { randomIds, systemClock } from '../facts.js';
import { Streams } from '../streams/streams.js';
import { CheckpointedSubscription } from '../subscriptions.js';
import type { EventStoreDbOptions } from './eventstoredb-event-store.js';
import type { EventStoreDbSubscription } from './eventstoredb-subscription.js';
import { openEventStoreDb } from './load-eventstoredb.js';

/** EventStoreDB has no leases: they are in a separate store, as in production. */
const underTest = async (
  url: string,
  more: { shared?: boolean; prefix?: string; restart?(): Promise<void>; stop?(): void },
): Promise<EventStoreUnderTest> => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-leases-'));
  const failures: Error[] = [];
  const open = () => openEventStoreDb({ url, prefix: more.prefix, onFailure: (error) => void failures.push(error) });
  const beside = () => EmbeddedEventStore.openFile({ file: join(folder, 'leases.db') });
  let [store, leases] = await Promise.all([open(), beside()]);
  return {
    store,
    leases: leases.leases,
    shared: more.shared,
    async reopen() {
      await Promise.all([store.close(), leases.close()]);
      await more.restart?.();
      [store, leases] = await Promise.all([open(), beside()]);
      return { store, leases: leases.leases };
    },
    async close() {
      await Promise.all([store.close(), leases.close()]);
      more.stop?.();
      await rm(folder, { recursive: true });
      expect(failures).toEqual([]);
    },
  };
};

let serial = 0;
const unique = () => `${process.pid.toString(36)}${Date.now().toString(36)}${(serial++).toString(36)}`;
const event = (data: unknown = { n: serial }, type = 'Happened'): NewEvent => anEvent({ data, type });
const events = (count: number, data?: unknown) => Array.from({ length: count }, () => event(data));
const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id);

const opened: EventStore[] = [];
const open = async (url: string, more: Partial<EventStoreDbOptions> = {}) => {
  const store = await openEventStoreDb({ url, onFailure: () => {}, ...more });
  opened.push(store);
  return store;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

/** A subscriber that stores the events it receives, and can be paused. */
const collect = (store: EventStore, options: SubscribeOptions) => {
  const got: RecordedEvent[] = [];
  const dropped: Error[] = [];
  let gate: Promise<void> | undefined;
  let next: Position | undefined;
  const subscription = store.subscribe(options, {
    onEvents: async (batch, to) => {
      await gate;
      got.push(...batch);
      next = to;
    },
    onDropped: (error) => void dropped.push(error),
  });
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  return { got, dropped, subscription, hold, next: () => next };
};

/** Tests specific to this adapter, on any server. */
const describeAdapter = (name: string, url: () => string): void => {
  describe(`EventStoreDB adapter: ${name}`, () => {
    let store: EventStore;
    let category: string;
    let origin: Position | undefined;
    beforeEach(async () => {
      store = await open(url());
      category = `a${unique()}`;
      origin = await store.head();
    });

    it('resumes a subscription that the server dropped for being too slow; nothing is lost or duplicated', async () => {
      const collector = collect(store, { after: origin, categories: [category], batchSize: 8 });
      const written = [event()];
      await store.append(`${category}-0`, written, NO_STREAM);
      await waitUntil(() => collector.got.length === 1);
      const release = collector.hold();
      for (let n = 1; n <= 40; n++) {
        const batch = events(10, { text: 'x'.repeat(4096) });
        await store.append(`${category}-${n}`, batch, NO_STREAM);
        written.push(...batch);
      }
      release();
      await waitUntil(() => collector.got.length >= written.length);
      written.push(event());
      await store.append(`${category}-live`, written.slice(-1), NO_STREAM);
      await waitUntil(() => collector.got.length >= written.length);
      expect(idsOf(collector.got)).toEqual(idsOf(written));
      expect(collector.dropped).toEqual([]);
      expect((collector.subscription as EventStoreDbSubscription).drops).toBeGreaterThan(0);
    });

    it('counts a subscriber as caught up although the last events are excluded by its filter', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'attestry-beside-'));
      const beside = await EmbeddedEventStore.openFile({ file: join(folder, 'leases.db') });
      await store.append(`${category}-1`, events(2), NO_STREAM);
      await store.append(`${category}other-1`, events(2), NO_STREAM);
      const got: RecordedEvent[] = [];
      const subscription = new CheckpointedSubscription({
        name: category,
        store,
        leases: beside.leases,
        checkpoints: beside.checkpoints,
        categories: [category],
        handle: async (batch) => void got.push(...batch),
      }).start();
      await waitUntil(() => subscription.health.caughtUp);
      expect(got).toHaveLength(2);
      await subscription.close();
      await beside.close();
      await rm(folder, { recursive: true });
    });

    it('reads a few events of many streams, thousands of times, without being disconnected', async () => {
      const streams = Array.from({ length: 20 }, (_, n) => `${category}-${n}`);
      for (const stream of streams) await store.append(stream, events(3), NO_STREAM);
      for (let round = 0; round < 60; round++) {
        const reads = await Promise.all(
          streams.flatMap((stream) => [
            store.readStream(stream, { limit: 1 }),
            store.readStream(stream, { direction: 'backwards', limit: 1 }),
          ]),
        );
        expect(reads.map(([event]) => event!.revision)).toEqual(streams.flatMap(() => [0, 2]));
      }
    });

    it('reads streams of many megabytes, forwards and backwards', async () => {
      const stream = `${category}-large`;
      const text = 'x'.repeat(900 * 1024);
      for (let n = 0; n < 12; n++) await store.append(stream, [event({ n, text })], n - 1);
      const numbers = (list: RecordedEvent[]) => list.map(({ data }) => (data as { n: number }).n);
      const ascending = Array.from({ length: 12 }, (_, n) => n);
      expect(numbers(await store.readStream(stream))).toEqual(ascending);
      expect(numbers(await store.readStream(stream, { direction: 'backwards' }))).toEqual(ascending.toReversed());
      const page = await store.readAll({ after: origin, categories: [category], limit: 100 });
      expect(numbers(page.events)).toEqual(ascending);
    });

    it("limits the age of a stream's events before its first one, once", async () => {
      const limited = await open(url(), { retentionDays: 30 });
      const stream = `${category}-1`;
      await Promise.allSettled([1, 2].map(() => limited.append(stream, events(1), NO_STREAM)));
      await limited.append(stream, events(1), 0);
      await store.append(`${category}-2`, events(1), NO_STREAM);
      const client = EventStoreDBClient.connectionString(url());
      const limits = await Promise.all([1, 2].map((n) => client.getStreamMetadata(`${category}-${n}`)));
      expect(limits.map(({ metadata }) => metadata?.maxAge)).toEqual([2_592_000, undefined]);
      const set: unknown[] = [];
      for await (const change of client.readStream(`$$${stream}`)) set.push(change);
      expect(set).toHaveLength(1);
      await client.dispose();
    });

    it("excludes the server's own events and those of other applications", async () => {
      const client = EventStoreDBClient.connectionString(url());
      const foreign = jsonEvent({ type: 'foreign', data: { by: 'somebody else' } });
      const [mine] = await Promise.all([
        store.append(`${category}-1`, events(1), NO_STREAM),
        client.setStreamMetadata(`${category}-1`, { maxAge: 1000 }),
        client.appendToStream(`${category}-2`, foreign),
      ]);
      await client.appendToStream(`${category}-1`, foreign);
      await client.dispose();
      const shown = (await store.readAll({ after: origin, limit: 1000 })).events;
      const ours = shown.filter(({ stream }) => stream.startsWith(category));
      expect(ours.map(({ position }) => position)).toEqual([mine.position]);
      expect(shown.filter(({ stream, type }) => stream.startsWith('$') || type.startsWith('$'))).toEqual([]);
      const { got } = collect(store, { after: origin });
      await store.append(`${category}-3`, events(1), NO_STREAM);
      const seen = () => got.filter(({ stream }) => stream.startsWith(category)).map(({ stream }) => stream);
      await waitUntil(() => seen().includes(`${category}-3`));
      expect(seen()).toEqual([`${category}-1`, `${category}-3`]);
      // A stream of the platform with records of another application is refused.
      await expect(store.readStream(`${category}-1`)).rejects.toThrow('revision 1 was written by something else');
    });

    it('skips no event when other records fill a page', async () => {
      const client = EventStoreDBClient.connectionString(url());
      for (let n = 0; n < 5; n++)
        await client.appendToStream(`${category}-${n}`, jsonEvent({ type: 'foreign', data: { by: 'somebody else' } }));
      await client.dispose();
      const tenantId = unique();
      // In streams without a tenant in their name, which may hold events of any.
      for (let n = 0; n < 5; n++) await store.append(`${category}-other${n}`, events(1), NO_STREAM);
      const [own] = events(1);
      const mine = chainEvent(CHAIN_START, { ...own!, metadata: { ...own!.metadata, tenantId } });
      await store.append(`${category}-mine`, [mine], NO_STREAM);
      const readEach = async (read: (after: Position | undefined) => ReturnType<EventStore['readAll']>) => {
        const found: RecordedEvent[] = [];
        for (let after = origin, atEnd = false; !atEnd;) {
          const page = await read(after);
          found.push(...page.events);
          ({ next: after, atEnd } = page);
        }
        return found;
      };
      expect(idsOf(await readEach((after) => store.readTenant(tenantId, after, 2)))).toEqual([mine.id]);
      const all = await readEach((after) => store.readAll({ after, limit: 2 }));
      expect(all.filter(({ stream }) => stream.startsWith(category))).toHaveLength(6);
    });

    it('refuses ids that the server would not return unchanged, and the positions of other stores', async () => {
      const odd = { ...event(), id: 'a1' };
      await expect(store.append(`${category}-1`, [odd], NO_STREAM)).rejects.toThrow(RangeError);
      await expect(store.readAll({ after: '17', limit: 1 })).rejects.toThrow(RangeError);
      expect(() => store.comparePositions('9/9', '9')).toThrow(RangeError);
      expect(store.comparePositions('9/9', '10/2')).toBeLessThan(0);
      expect(store.comparePositions('18446744073709551614/1', '18446744073709551615/0')).toBeLessThan(0);
    });

    it('shows each of the platforms that share a server its own events alone, under the same names', async () => {
      const [one, other] = [`p${unique()}`, `p${unique()}`];
      const stores = await Promise.all([one, other, undefined].map((prefix) => open(url(), { prefix })));
      const [stream, tenant] = [`${category}-${one}+1`, one];
      const written = stores.map((_, index) =>
        Array.from({ length: index + 1 }, () => anEvent({ data: { n: index }, tenantId: tenant })),
      );
      const collectors = stores.map((each) => collect(each, { after: origin }));
      for (const [index, each] of stores.entries()) {
        await each.append(stream, written[index]!, NO_STREAM);
        const refused = await each.append(stream, events(1), 7).catch((error: unknown) => error);
        expect(refused).toEqual(new WrongExpectedRevision(stream, 7, index));
      }
      for (const [index, each] of stores.entries()) {
        const own = idsOf(written[index]!);
        const pages = [
          each.readStream(stream),
          each.readAll({ after: origin, categories: [category], limit: 10 }).then((page) => page.events),
          each.readAll({ after: origin, limit: 1000 }).then((page) => page.events),
          each.readTenant(tenant, undefined, 10).then((page) => page.events),
        ];
        for (const page of await Promise.all(pages)) {
          const found = page.filter((it) => it.metadata.tenantId === tenant);
          expect([idsOf(found), [...new Set(found.map((it) => it.stream))]]).toEqual([own, [stream]]);
        }
        expect(await each.tenantStreams(tenant, undefined, 10)).toEqual([stream]);
        const got = () => collectors[index]!.got.filter((it) => it.metadata.tenantId === tenant);
        await waitUntil(() => got().length >= own.length);
        expect(idsOf(got())).toEqual(own);
      }
    });

    it('reads past 10,000 events of other applications in a few requests', async () => {
      const client = EventStoreDBClient.connectionString(url() as never);
      const foreign = Array.from({ length: 100 }, () => jsonEvent({ type: 'Ordered', data: { n: 1 } }));
      for (let n = 0; n < 25; n++) {
        await client.appendToStream(`order-${category}`, foreign);
        await client.appendToStream(`${category}order`, foreign);
        await client.appendToStream(`p${category}.${category}-1`, foreign);
        await client.appendToStream(`${category}.order-1`, foreign);
      }
      await client.dispose();
      for (const prefix of [undefined, `q${category}`]) {
        const own = await open(url(), { prefix });
        let pages = 0;
        for (let after = origin, atEnd = false; !atEnd; pages++) {
          const page = await own.readAll({ after, limit: 1 });
          expect(page.events).toEqual([]);
          ({ next: after, atEnd } = page);
        }
        // Only order-… has the form of a stream of the platform without a prefix.
        expect(pages).toBeLessThan(prefix === undefined ? 10 : 3);
        const [written] = events(1);
        const { got } = collect(own, { after: origin });
        await own.append(`${category}-own${prefix ?? ''}`, [written!], NO_STREAM);
        await waitUntil(() => got.length > 0);
        expect(idsOf(got)).toEqual([written!.id]);
        origin = await own.head();
      }
    });

    it('stores appends in the order in which they are given, where old events are discarded', async () => {
      const limited = await open(url(), { retentionDays: 1 });
      const written: NewEvent[] = [];
      const appends: Promise<unknown>[] = [];
      for (let n = 0; n < 40; n++) {
        const batch = events(2);
        written.push(...batch);
        for (const [index, one] of batch.entries()) appends.push(limited.append(`${category}-${n}`, [one], index - 1));
      }
      await Promise.all(appends);
      const page = await limited.readAll({ after: origin, categories: [category], limit: 100 });
      expect(idsOf(page.events)).toEqual(idsOf(written));
    });

    it('refuses an address whose settings the client would ignore', async () => {
      const careless = open('esdb://127.0.0.1:1?tls=true&tlsVerifyCert=false');
      await expect(careless).rejects.toThrow('tlsVerifyCert=false has no effect');
    });
  });
};

const real = process.env['EVENTSTORE_URL'];
if (real === undefined)
  skipSuite('event store: EventStoreDB', 'EVENTSTORE_URL names no server; the stand-in is tested');
else {
  describeEventStore('EventStoreDB', () => underTest(real, { shared: true }));
  describeAdapter('EventStoreDB', () => real);
}

describeEventStore('EventStoreDB (stand-in)', async () => {
  const standIn = await startEventStoreDbStandIn();
  return underTest(standIn.url, { restart: () => standIn.restart(), stop: () => standIn.stop() });
});

describeEventStore('EventStoreDB (stand-in) with a prefix', async () => {
  const standIn = await startEventStoreDbStandIn();
  return underTest(standIn.url, { prefix: 'one', restart: () => standIn.restart(), stop: () => standIn.stop() });
});

describe('with the stand-in', () => {
  let standIn: EventStoreDbStandIn;
  beforeEach(async () => {
    standIn = await startEventStoreDbStandIn();
  });
  afterEach(() => standIn.stop());

  describeAdapter('stand-in', () => standIn.url);

  const outcome = (promise: Promise<unknown>) =>
    promise.then(
      () => 'stored',
      (error: unknown) => error,
    );

  it('continues without loss however often the server drops its subscribers', async () => {
    const store = await open(standIn.url);
    const { got, dropped } = collect(store, { categories: ['thing'], batchSize: 16 });
    const written: NewEvent[] = [];
    for (let n = 0; n < 60; n++) {
      const batch = events(5);
      await store.append(`thing-${n}`, batch, NO_STREAM);
      await store.append(`other-${n}`, events(5), NO_STREAM);
      written.push(...batch);
      if (n % 6 === 5) {
        await waitUntil(() => got.length > n);
        standIn.dropSubscribers();
      }
    }
    await waitUntil(() => got.length >= written.length);
    expect(idsOf(got)).toEqual(idsOf(written));
    expect(dropped).toEqual([]);
    expect(standIn.drops).toBeGreaterThan(5);
  });

  it('gives up a subscription that is repeatedly dropped before an event arrives', async () => {
    const store = await open(standIn.url);
    const { dropped } = collect(store, { categories: ['thing'] });
    await waitUntil(() => {
      standIn.dropSubscribers();
      return dropped.length > 0;
    });
    expect(dropped).toEqual([expect.any(EventStoreUnavailable)]);
  });

  it('is unavailable while the server is unreachable, and recovers with the server', async () => {
    const store = await open(standIn.url);
    const { got, dropped } = collect(store, {});
    const first = events(3);
    await store.append('thing-1', first, NO_STREAM);
    await waitUntil(() => got.length === 3);
    standIn.stop();
    const begun = performance.now();
    const during = [store.append('thing-1', events(1), 2), store.readStream('thing-1'), store.head()];
    for (const attempt of during) expect(await outcome(attempt)).toBeInstanceOf(EventStoreUnavailable);
    await waitUntil(() => dropped.length > 0);
    expect(dropped).toEqual([expect.any(EventStoreUnavailable)]);
    expect(performance.now() - begun).toBeLessThan(6000);
    await standIn.restart();
    const again = performance.now();
    await waitUntil(async () => idsOf(await store.readStream('thing-1')).length === 3);
    const result = await store.append('thing-1', events(1), 2);
    expect(performance.now() - again).toBeLessThan(5000);
    const { got: rest } = collect(store, { after: got.at(-1)!.position });
    await waitUntil(() => rest.length === 1);
    expect(rest[0]!.position).toBe(result.position);
  });

  it('is subscribed again at once after an outage of any length', async () => {
    const store = await open(standIn.url);
    const folder = await mkdtemp(join(tmpdir(), 'attestry-beside-'));
    const beside = await EmbeddedEventStore.openFile({ file: join(folder, 'leases.db') });
    const got: RecordedEvent[] = [];
    const failures: Error[] = [];
    const subscription = new CheckpointedSubscription({
      name: 'follower',
      store,
      leases: beside.leases,
      checkpoints: beside.checkpoints,
      categories: ['thing'],
      handle: async (batch) => void got.push(...batch),
      onError: (error) => void failures.push(error),
      // Back-off as after many failures.
      backOff: { firstMs: 60_000, maxMs: 60_000 },
    }).start();
    await store.append('thing-1', events(1), NO_STREAM);
    await waitUntil(() => got.length === 1);
    standIn.stop();
    await waitUntil(() => failures.length > 0);
    await standIn.restart();
    await store.append('thing-1', events(1), 0);
    await waitUntil(() => got.length === 2, { timeoutMs: 8000 });
    expect(failures.every((error) => error instanceof EventStoreUnavailable)).toBe(true);
    await subscription.close();
    await beside.close();
    await rm(folder, { recursive: true });
  });

  it('settles every append when the server ends under load; another store of the process is not affected', async () => {
    const other = await startEventStoreDbStandIn();
    const [store, spared] = await Promise.all([open(standIn.url), open(other.url)]);
    const outcomes = new Map<string, unknown>();
    const text = 'x'.repeat(20_000);
    const load = Array.from({ length: 400 }, async (_, n) => {
      outcomes.set(`${n}`, await outcome(store.append(`thing-${n}`, [event({ text })], NO_STREAM)));
    });
    const beside = Array.from({ length: 400 }, (_, n) => spared.append(`thing-${n}`, [event({ text })], NO_STREAM));
    await waitUntil(() => standIn.requests.batchAppend > 20, { intervalMs: 1 });
    standIn.stop();
    await Promise.all([...load, ...beside]);
    const failed = [...outcomes.values()].filter((it) => it !== 'stored');
    expect(failed.length).toBeGreaterThan(0);
    for (const error of failed) expect(error).toBeInstanceOf(EventStoreUnavailable);
    await standIn.restart();
    // Acknowledged events are present; others may be.
    for (const [n, result] of outcomes)
      if (result === 'stored') expect(await store.readStream(`thing-${n}`)).toHaveLength(1);
    await spared.close();
    other.stop();
  });

  it('waits no longer than the time-out for a server that does not answer or refuses', async () => {
    const store = await open(standIn.url, { timeoutMs: 300 });
    standIn.unavailable = true;
    expect(await outcome(store.readStream('thing-1'))).toBeInstanceOf(EventStoreUnavailable);
    expect(await outcome(store.append('thing-1', events(1), NO_STREAM))).toBeInstanceOf(EventStoreUnavailable);
    standIn.unavailable = false;
    await store.append('thing-1', events(1), NO_STREAM);
    standIn.silent = true;
    const begun = performance.now();
    expect(await outcome(store.append('thing-1', events(1), 0))).toBeInstanceOf(EventStoreUnavailable);
    expect(await outcome(store.readStream('thing-1'))).toBeInstanceOf(EventStoreUnavailable);
    expect(performance.now() - begun).toBeLessThan(3000);
    standIn.silent = false;
    expect(await store.readStream('thing-1')).toHaveLength(1);
  });

  it('loses nothing when the event of a checkpoint was scavenged', async () => {
    const store = await open(standIn.url);
    const { position } = await store.append('old-1', events(1), NO_STREAM);
    const next = events(2);
    await store.append('thing-1', next, NO_STREAM);
    standIn.log.scavenge(({ stream }) => stream === 'old-1');
    for (const categories of [['thing'], undefined]) {
      const { got, subscription } = collect(store, { after: position, categories });
      await waitUntil(() => got.length >= 2);
      expect(idsOf(got)).toEqual(idsOf(next));
      await subscription.close();
    }
    expect(idsOf((await store.readAll({ after: position, limit: 10 })).events)).toEqual(idsOf(next));
  });

  describe('decisions', () => {
    type Counted = { type: 'Counted'; data: { n: number } };
    const counter: Aggregate<number, Counted> = {
      category: 'counter',
      initial: 0,
      types: { Counted: 1 },
      evolve: (_, { data }) => data.n,
    };
    const context = { tenantId: 't1', requestId: 'r1', actor: 'service:test', operation: 'test' };
    const count = (state: number): Counted[] => {
      if (state >= 3) throw new Error(`full at ${state}`);
      return [{ type: 'Counted', data: { n: state + 1 } }];
    };

    it('cost one read and one append, or only the append with a cached state', async () => {
      const streams = new Streams(await open(standIn.url), systemClock, randomIds);
      const cost = async (cached: boolean) => {
        const before = { ...standIn.requests };
        await streams.runDecision(counter, 'counter-1', count, context, { cached });
        return [standIn.requests.read - before.read, standIn.requests.batchAppend - before.batchAppend];
      };
      expect([await cost(false), await cost(true), await cost(false)]).toEqual([
        [1, 1],
        [0, 1],
        [1, 1],
      ]);
    });

    it('refuse nothing on the basis of a cached state, because another process may have appended', async () => {
      const [here, there] = [await open(standIn.url), await open(standIn.url)];
      const streams = new Streams(here, systemClock, randomIds);
      await streams.runDecision(counter, 'counter-1', () => [{ type: 'Counted' as const, data: { n: 3 } }], context);
      await there.append('counter-1', [event({ n: 0 }, 'Counted')], 0);
      const { events: decided, revision } = await streams.runDecision(counter, 'counter-1', count, context, {
        cached: true,
      });
      expect([decided, revision]).toEqual([[{ type: 'Counted', data: { n: 1 } }], 2]);
      await there.append('counter-1', [event({ n: 3 }, 'Counted')], 2);
      // Accepted by what is folded here, refused by what is stored.
      await expect(streams.runDecision(counter, 'counter-1', count, context, { cached: true })).rejects.toThrow(
        'full at 3',
      );
      const conflict = here.append('counter-1', [event({ n: 9 }, 'Counted')], 2);
      expect(await outcome(conflict)).toMatchObject({ actual: 3 });
      expect(await outcome(conflict)).toBeInstanceOf(WrongExpectedRevision);
    });
  });
});
