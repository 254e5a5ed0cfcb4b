import { charactersOf } from './stream-pages.js';
import { CHAIN_START, chainEvent, verifyChain } from './chain.js';
import type {
  AllPage,
  EventMetadata,
  EventStore,
  Leases,
  NewEvent,
  Position,
  RecordedEvent,
  Subscription,
  UnitOfWork,
  UnitWrite,
} from './event-store.js';
import { itGrantsLeases } from './leases.contract.js';
import { AppendTooLarge, MAX_APPEND_BYTES, NO_STREAM, WrongExpectedRevision } from './event-store.js';

/** Provided by an adapter: a separate store for every test, which no other test writes to, or a shared one. */
export interface EventStoreUnderTest {
  store: EventStore;
  leases: Leases;
  /** Others wrote to the store before and may write meanwhile. */
  shared?: boolean;
  /** `commit` is one transaction. */
  transactions?: boolean;
  /** Closes both and opens them again on the same data. Absent when the engine outlives its clients. */
  reopen?(): Promise<{ store: EventStore; leases: Leases }>;
  /** Closes what is open now and removes the data. */
  close(): Promise<void>;
}

let serial = 0;
const unique = () => `${process.pid.toString(36)}${Date.now().toString(36)}${(serial++).toString(36)}`;
const eventId = () => `00000000-0000-4000-8000-${(serial++).toString(16).padStart(12, '0')}`;

const anEvent = (
  type = 'ThingHappened',
  data: unknown = { n: serial },
  more: Partial<EventMetadata> = {},
  schemaVersion = 1,
): NewEvent =>
  chainEvent(CHAIN_START, {
    id: eventId(),
    type,
    schemaVersion,
    data,
    metadata: {
      tenantId: 't1',
      requestId: 'r1',
      actor: 'service:contract',
      operation: 'contract.test',
      correlationId: 'r1',
      causationId: 'r1',
      occurredAt: '2026-01-02T03:04:05.678Z',
      partitionKey: 't1',
      ...more,
    },
  });
const events = (count: number, type?: string): NewEvent[] => Array.from({ length: count }, () => anEvent(type));
const idsOf = (list: readonly { id: string }[]) => list.map((event) => event.id);

async function until(condition: () => boolean | Promise<boolean>, what: string, timeoutMs = 10_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function readEverything(store: EventStore, categories: string[], limit: number, after?: Position) {
  const found: RecordedEvent[] = [];
  let page: AllPage;
  do {
    page = await store.readAll({ after, categories, limit });
    expect(page.events.length).toBeLessThanOrEqual(limit);
    found.push(...page.events);
    after = page.next;
  } while (!page.atEnd);
  return found;
}

/** A subscriber that keeps what it gets. */
class Collector {
  readonly events: RecordedEvent[] = [];
  readonly batches: number[] = [];
  next: Position | undefined;
  dropped: Error | undefined;
  subscription: Subscription;
  private handling = 0;

  constructor(
    store: EventStore,
    options: Parameters<EventStore['subscribe']>[0],
    each?: (batch: RecordedEvent[]) => Promise<void> | void,
  ) {
    this.subscription = store.subscribe(options, {
      onEvents: async (batch, next) => {
        expect(++this.handling).toBe(1);
        this.batches.push(batch.length);
        await each?.(batch);
        this.events.push(...batch);
        this.next = next;
        this.handling--;
      },
      onDropped: (error) => (this.dropped = error),
    });
  }

  got(count: number): Promise<void> {
    return until(() => this.events.length >= count, `${count} events`);
  }
}

/**
 * The contract of {@link EventStore} and {@link Leases}, which every adapter runs. Uses Jest's globals.
 *
 * @param makeStore an empty store or a shared one, called once for every test
 */
export function describeEventStore(name: string, makeStore: () => Promise<EventStoreUnderTest>): void {
  describe(`event store: ${name}`, () => {
    let under: EventStoreUnderTest;
    let store: EventStore;
    let leases: Leases;
    let category: string;
    let stream: string;
    /** Earlier events of other tests in a shared store are skipped; an empty one is read from its beginning. */
    let origin: Position | undefined;

    beforeEach(async () => {
      under = await makeStore();
      ({ store, leases } = under);
      origin = under.shared ? await store.head() : undefined;
      category = `c${unique()}`;
      stream = `${category}-t1+${unique()}`;
    });
    afterEach(() => under.close());

    const wrongRevision = async (promise: Promise<unknown>) => {
      const error = await promise.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(WrongExpectedRevision);
      return error as WrongExpectedRevision;
    };

    describe('append', () => {
      it('stores several events in order, complete, from revision 0', async () => {
        const written = [
          anEvent('First', { a: 1, nested: { list: [1, null, true, 'x'] } }),
          anEvent('Second', {}, { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }, 7),
          anEvent('Third', {}, { sourceSequence: '42' }),
        ];
        const result = await store.append(stream, written, NO_STREAM);
        expect(result.revision).toBe(2);
        const read = await store.readStream(stream);
        expect(read.map(({ position: _, ...rest }) => rest)).toEqual(
          written.map((event, revision) => ({ ...event, stream, revision })),
        );
        expect(read[2]!.position).toBe(result.position);
      });

      it('continues at the expected revision', async () => {
        const first = await store.append(stream, events(2), NO_STREAM);
        const second = await store.append(stream, events(3), first.revision);
        expect(second.revision).toBe(4);
        expect(store.comparePositions(first.position, second.position)).toBeLessThan(0);
        expect(store.comparePositions(second.position, first.position)).toBeGreaterThan(0);
        expect(store.comparePositions(second.position, second.position)).toBe(0);
      });

      it.each([
        ['before the end', 0],
        ['behind the end', 5],
        ['no stream', NO_STREAM],
      ])('refuses a wrong expected revision (%s) and stores nothing', async (_, expected) => {
        await store.append(stream, events(2), NO_STREAM);
        const error = await wrongRevision(store.append(stream, events(1), expected));
        expect(error).toMatchObject({ stream, expected, actual: 1 });
        expect(await store.readStream(stream)).toHaveLength(2);
      });

      it('refuses an expected revision of a stream that does not exist', async () => {
        expect(await wrongRevision(store.append(stream, events(1), 0))).toMatchObject({ actual: NO_STREAM });
        expect(await store.readStream(stream)).toEqual([]);
      });

      it('answers a repeated append with the first result, also after later events', async () => {
        const first = await store.append(stream, events(1), NO_STREAM);
        const batch = events(2);
        const result = await store.append(stream, batch, first.revision);
        expect(await store.append(stream, batch, first.revision)).toEqual(result);
        await store.append(stream, events(2), result.revision);
        expect(await store.append(stream, batch, first.revision)).toEqual(result);
        expect(await store.readStream(stream)).toHaveLength(5);
      });

      it('refuses an append that shares only some ids with stored events', async () => {
        const [a, b, c] = events(3) as [NewEvent, NewEvent, NewEvent];
        await store.append(stream, [a, b], NO_STREAM);
        await wrongRevision(store.append(stream, [a, c], NO_STREAM));
        await wrongRevision(store.append(stream, [a, b, c], NO_STREAM));
        await wrongRevision(store.append(stream, [b, a], NO_STREAM));
        expect(idsOf(await store.readStream(stream))).toEqual([a.id, b.id]);
      });

      it('keeps streams apart', async () => {
        const other = `${stream}0`;
        const [here, there] = [events(2), events(3)];
        await store.append(stream, here, NO_STREAM);
        await store.append(other, there, NO_STREAM);
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(here));
        expect(idsOf(await store.readStream(other))).toEqual(idsOf(there));
        expect(await store.readStream(stream.slice(0, -1))).toEqual([]);
      });

      it('ends a read with the event with which the text is longer than asked, in both directions', async () => {
        // Characters, also where each has several bytes.
        const all = Array.from({ length: 40 }, () => anEvent('ThingHappened', { text: '😀ä'.repeat(4000) }));
        await store.append(stream, all, NO_STREAM);
        const characters = (count: number) => charactersOf(all.slice(0, count));
        for (const direction of ['forwards', 'backwards'] as const) {
          const expected = idsOf(direction === 'forwards' ? all : all.toReversed());
          for (const [mostCharacters, limit] of [
            [characters(5) - 1, 100],
            [characters(35) - 1, 100],
            [characters(40), 100],
            [characters(40), 3],
            [0, 100],
          ] as const) {
            const read = await store.readStream(stream, { direction, limit, mostCharacters });
            expect(idsOf(read)).toEqual(expected.slice(0, read.length));
            const isWhole = read.length === Math.min(limit, all.length);
            // An engine may count characters or the units of their text.
            if (!isWhole) expect(charactersOf(read)).toBeGreaterThan(mostCharacters);
            expect(read.length).toBeGreaterThan(0);
          }
          const short = await store.readStream(stream, { direction, mostCharacters: characters(35) - 1 });
          expect(short.length).toBeLessThanOrEqual(40);
        }
        const [few] = [await store.readStream(stream, { mostCharacters: characters(5) - 1 })];
        expect(few.length).toBeLessThan(33);
      });

      it('accepts exactly one of many concurrent appends', async () => {
        await store.append(stream, events(1), NO_STREAM);
        const tries = Array.from({ length: 20 }, () => events(2));
        const results = await Promise.allSettled(tries.map((batch) => store.append(stream, batch, 0)));
        const winners = results.flatMap((result, index) => (result.status === 'fulfilled' ? [index] : []));
        expect(winners).toHaveLength(1);
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(WrongExpectedRevision);
        expect(idsOf(await store.readStream(stream, { from: 1 }))).toEqual(idsOf(tries[winners[0]!]!));
      });

      it('stores text unchanged', async () => {
        const data = {
          text: 'ä ß 漢字 😀 \u0000 \u2028 "\\/ \u200d',
          'kéy😀': ['\t\n'],
          number: 0.1,
          big: 1e21,
          empty: '',
        };
        await store.append(`${category}-ümläut 😀`, [anEvent('Wörte', data)], NO_STREAM);
        const [read] = await store.readStream(`${category}-ümläut 😀`);
        expect(read).toMatchObject({ type: 'Wörte', data, stream: `${category}-ümläut 😀` });
      });

      it('returns the stored text byte for byte, and its chain is intact', async () => {
        let chain = CHAIN_START;
        const written = Array.from({ length: 5 }, (_, n) => {
          const { id, data, metadata } = anEvent('Wörte', {
            n,
            text: 'ä \u0000 \u2028 "\\/\n',
            ['1']: [1e21, -0, 1.5],
          });
          const event = chainEvent(chain, { id, type: 'Wörte', schemaVersion: 1 + n, data, metadata });
          chain = event.chain;
          return event;
        });
        await store.append(stream, written, NO_STREAM);
        const read = await store.readStream(stream);
        expect(read.map(({ text }) => text)).toEqual(written.map(({ text }) => text));
        expect(read.map((event) => event.chain)).toEqual(written.map((event) => event.chain));
        expect(read.map(({ metadata }) => metadata)).toEqual(written.map(({ metadata }) => metadata));
        expect(verifyChain(read)).toEqual({ intact: true, chain });
        expect(verifyChain(await readEverything(store, [category], 2, origin))).toEqual({ intact: true, chain });
      });

      it('accepts an append close to 1 MiB and refuses a larger one with a clear error', async () => {
        const large = anEvent('Large', { text: 'x'.repeat(MAX_APPEND_BYTES - 4096) });
        await store.append(stream, [large], NO_STREAM);
        expect((await store.readStream(stream))[0]!.data).toEqual(large.data);
        const half = () => anEvent('Half', { text: 'é'.repeat(MAX_APPEND_BYTES / 4) });
        await expect(store.append(stream, [half(), half()], 0)).rejects.toThrow(AppendTooLarge);
        expect(await store.readStream(stream)).toHaveLength(1);
        await store.append(stream, events(1), 0);
      });
    });

    describe('commit', () => {
      const order: string[] = [];
      const write = (kind: UnitWrite['kind'], refusal?: Error): UnitWrite => ({
        kind,
        store: async () => {
          order.push(kind);
          if (refusal) throw refusal;
        },
        partOf: async () => undefined,
      });
      const other = () => `${stream}-other`;
      const unitOf = (count = 2, writes: UnitWrite[] = []) => ({
        writes,
        appends: [
          { stream: other(), events: events(count), expected: NO_STREAM },
          { stream, events: events(count), expected: NO_STREAM },
        ] satisfies UnitOfWork['appends'],
      });
      beforeEach(() => order.splice(0));

      it('stores the events of several streams, and the writes of other stores before them, keys first', async () => {
        const unit = unitOf(2, [write('single-use'), write('key'), write('key')]);
        const result = await store.commit(unit);
        expect(order).toEqual(['key', 'key', 'single-use']);
        const [first, last] = [await store.readStream(other()), await store.readStream(stream)];
        expect([idsOf(first), idsOf(last)]).toEqual(unit.appends.map((append) => idsOf(append.events)));
        expect(result).toEqual({ revision: 1, position: last[1]!.position });
        expect(store.comparePositions(first[1]!.position, last[0]!.position)).toBeLessThan(0);
      });

      it('stores nothing twice when it is repeated', async () => {
        const unit = unitOf();
        const result = await store.commit(unit);
        expect(await store.commit(unit)).toEqual(result);
        expect(await store.readStream(stream)).toHaveLength(2);
        expect(await store.readStream(other())).toHaveLength(2);
      });

      it('reports the conflict of any of its streams; the last one is stored only with all others', async () => {
        await store.append(other(), events(1), NO_STREAM);
        expect(await wrongRevision(store.commit(unitOf()))).toMatchObject({ stream: other(), expected: -1, actual: 0 });
        expect(await store.readStream(stream)).toEqual([]);
        await store.append(stream, events(1), NO_STREAM);
        const { appends } = unitOf();
        const again = { writes: [], appends: [{ ...appends[0]!, expected: 0 }, appends[1]!] } satisfies UnitOfWork;
        expect(await wrongRevision(store.commit(again))).toMatchObject({ stream, expected: -1, actual: 0 });
        expect(await store.readStream(stream)).toHaveLength(1);
        if (under.transactions) expect(await store.readStream(other())).toHaveLength(1);
      });

      it('stores no event when a write is refused or an append is too large', async () => {
        const refused = unitOf(1, [write('key', new Error('refused')), write('single-use')]);
        await expect(store.commit(refused)).rejects.toThrow('refused');
        expect(order).toEqual(['key']);
        const large = { stream, events: [anEvent('Large', 'x'.repeat(MAX_APPEND_BYTES))], expected: NO_STREAM };
        await expect(store.commit({ writes: [], appends: [large] })).rejects.toThrow(AppendTooLarge);
        expect([await store.readStream(stream), await store.readStream(other())]).toEqual([[], []]);
      });

      it('of many at once stores each or refuses it', async () => {
        const units = Array.from({ length: 20 }, (_, n) => {
          const own = { stream: `${stream}-${n}`, events: events(1), expected: NO_STREAM };
          const common = { stream, events: events(1), expected: Math.floor(n / 2) - 1 };
          return { writes: [], appends: [own, common] } satisfies UnitOfWork;
        });
        const outcomes = await Promise.allSettled(units.map((unit) => store.commit(unit)));
        const stored = await store.readStream(stream);
        const accepted = outcomes.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
        expect(accepted.length).toBeGreaterThan(0);
        expect(idsOf(stored)).toEqual(accepted.map((n) => units[n]!.appends[1].events[0]!.id));
        for (const [n] of units.entries()) {
          const own = await store.readStream(`${stream}-${n}`);
          if (accepted.includes(n)) expect(own).toHaveLength(1);
          else if (under.transactions) expect(own).toEqual([]);
        }
      });

      it('is delivered to subscribers in the order of positions', async () => {
        const collector = new Collector(store, { categories: [category], ...(origin && { after: origin }) });
        await Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            store.commit({
              writes: [],
              appends: [
                { stream: `${stream}-a${n}`, events: events(1), expected: NO_STREAM },
                { stream: `${stream}-b${n}`, events: events(2), expected: NO_STREAM },
              ],
            }),
          ),
        );
        await collector.got(30);
        const positions = collector.events.map(({ position }) => position);
        expect(positions.toSorted((a, b) => store.comparePositions(a, b))).toEqual(positions);
        await collector.subscription.close();
      });
    });

    describe('readStream', () => {
      it('reads forwards and backwards, from a revision, up to a limit', async () => {
        const written = events(10);
        await store.append(stream, written, NO_STREAM);
        const revisions = async (options: Parameters<EventStore['readStream']>[1]) =>
          (await store.readStream(stream, options)).map((event) => event.revision);
        expect(await revisions({})).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        expect(await revisions({ from: 7 })).toEqual([7, 8, 9]);
        expect(await revisions({ from: 2, limit: 3 })).toEqual([2, 3, 4]);
        expect(await revisions({ from: 10 })).toEqual([]);
        expect(await revisions({ direction: 'backwards', limit: 2 })).toEqual([9, 8]);
        expect(await revisions({ direction: 'backwards', from: 3 })).toEqual([3, 2, 1, 0]);
        expect(await revisions({ direction: 'backwards', from: 3, limit: 1 })).toEqual([3]);
      });

      it('returns no events for a stream that does not exist', async () => {
        expect(await store.readStream(stream)).toEqual([]);
        expect(await store.readStream(stream, { direction: 'backwards' })).toEqual([]);
      });

      it('holds several thousand events', async () => {
        const written: NewEvent[] = [];
        for (let at = 0; at < 5000; at += 500) {
          const batch = events(500);
          await store.append(stream, batch, at - 1);
          written.push(...batch);
        }
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(written));
        expect(idsOf(await readEverything(store, [category], 300, origin))).toEqual(idsOf(written));
      });
    });

    describe('readAll', () => {
      it('pages over the requested categories in the order of their positions', async () => {
        const categories = [category, `${category}B`, `${category}C`];
        const written: NewEvent[] = [];
        const ofTwo: string[] = [];
        for (let n = 0; n < 30; n++) {
          const batch = events(1 + (n % 3));
          await store.append(`${categories[n % 3]!}-${n}`, batch, NO_STREAM);
          written.push(...batch);
          if (n % 3 !== 1) ofTwo.push(...idsOf(batch));
        }
        for (const limit of [1, 7, 1000]) {
          const all = await readEverything(store, categories, limit, origin);
          expect(idsOf(all)).toEqual(idsOf(written));
          for (let n = 1; n < all.length; n++)
            expect(store.comparePositions(all[n - 1]!.position, all[n]!.position)).toBeLessThan(0);
          expect(idsOf(await readEverything(store, [categories[0]!, categories[2]!], limit, origin))).toEqual(ofTwo);
        }
        const everything = await store.readAll({ after: origin, limit: 10_000 });
        expect(idsOf(everything.events.filter((event) => event.stream.startsWith(category)))).toEqual(idsOf(written));
      });

      it('starts exclusively after a position', async () => {
        const written = events(5);
        await store.append(stream, written, NO_STREAM);
        const read = await readEverything(store, [category], 100, origin);
        const page = await store.readAll({ after: read[1]!.position, categories: [category], limit: 2 });
        expect(idsOf(page.events)).toEqual(idsOf(written.slice(2, 4)));
        const rest = await store.readAll({ after: page.next, categories: [category], limit: 100 });
        expect(idsOf(rest.events)).toEqual([written[4]!.id]);
        const none = await store.readAll({ after: rest.next, categories: [category], limit: 100 });
        expect(none).toMatchObject({ events: [], atEnd: true });
        expect(store.comparePositions(none.next!, rest.next!)).toBeGreaterThanOrEqual(0);
      });

      it('moves `next` past events that the filter excludes', async () => {
        await store.append(stream, events(1), NO_STREAM);
        await store.append(`other${category}-1`, events(50), NO_STREAM);
        const head = (await store.head())!;
        let after = origin;
        const found: RecordedEvent[] = [];
        await until(async () => {
          const page = await store.readAll({ after, categories: [category], limit: 10 });
          found.push(...page.events);
          after = page.next;
          return page.atEnd && after !== undefined && store.comparePositions(after, head) >= 0;
        }, '`next` to pass the hidden events');
        expect(found).toHaveLength(1);
      });

      it('reports its head', async () => {
        const { position } = await store.append(stream, events(3), NO_STREAM);
        const head = (await store.head())!;
        if (under.shared) expect(store.comparePositions(head, position)).toBeGreaterThanOrEqual(0);
        else expect(head).toBe(position);
      });

      it('never shows a later position before an earlier one', async () => {
        const seen: string[] = [];
        let after = origin;
        let writing = true;
        const reader = (async () => {
          for (;;) {
            const last = !writing;
            const page = await store.readAll({ after, categories: [category], limit: 50 });
            seen.push(...idsOf(page.events));
            after = page.next;
            if (last && page.atEnd) return;
          }
        })();
        await Promise.all(
          Array.from({ length: 40 }, async (_, writer) => {
            for (let n = 0; n < 10; n++) await store.append(`${category}-${writer}`, events(1), n - 1);
          }),
        );
        writing = false;
        await reader;
        expect(seen).toHaveLength(400);
        expect(seen).toEqual(idsOf(await readEverything(store, [category], 1000, origin)));
      });
    });

    describe('tenants', () => {
      /** Streams of two tenants and one of both; the events of the first tenant and its streams. */
      const writeTenants = async () => {
        const [one, other] = [`t${unique()}`, `t${unique()}`];
        const ofTenant = (tenantId: string) => anEvent('Happened', {}, { tenantId });
        const written: NewEvent[] = [];
        const ids = (...added: NewEvent[]) => (written.push(...added), added);
        const names = [`${category}-${one}+a`, `${category}-${one}+b`, `${category}-both`, `subdomain-${other}+${one}`];
        await store.append(names[1]!, ids(ofTenant(one), ofTenant(one)), NO_STREAM);
        await store.append(`${category}-${other}+a`, [ofTenant(other), ofTenant(other)], NO_STREAM);
        await store.append(names[2]!, ids(ofTenant(one)), NO_STREAM);
        await store.append(names[2]!, [ofTenant(other), ofTenant(other)], 0);
        await store.append(`${category}-${one}x+a`, [ofTenant(`${one}x`)], NO_STREAM);
        await store.append(names[3]!, ids(ofTenant(one)), NO_STREAM);
        // The name of a stream takes precedence over the metadata of its events.
        await store.append(names[0]!, ids(ofTenant(other), ofTenant(one)), NO_STREAM);
        await store.append(names[2]!, ids(ofTenant(one)), 2);
        return { one, other, written, names: names.sort() };
      };

      it('reads the events of one tenant, page by page, in the order of their positions', async () => {
        const { one, written } = await writeTenants();
        for (const limit of [1, 3, 1000]) {
          const found: RecordedEvent[] = [];
          for (let after = origin, atEnd = false; !atEnd;) {
            const page = await store.readTenant(one, after, limit);
            expect(page.events.length).toBeLessThanOrEqual(limit);
            found.push(...page.events);
            ({ next: after, atEnd } = page);
          }
          expect(idsOf(found)).toEqual(idsOf(written));
        }
        const [first] = (await store.readTenant(one, origin, 1000)).events;
        const rest = await store.readTenant(one, first!.position, 1000);
        expect(idsOf(rest.events)).toEqual(idsOf(written.slice(1)));
        expect(store.comparePositions(rest.next!, rest.events.at(-1)!.position)).toBeGreaterThanOrEqual(0);
      });

      it('reads the events of a tenant that are appended later, and none of an unknown one', async () => {
        const { other } = await writeTenants();
        const head = (await store.head())!;
        expect((await store.readTenant(other, head, 10)).events).toEqual([]);
        const later = anEvent('Happened', {}, { tenantId: other });
        await store.append(`${category}-${other}+later`, [later], NO_STREAM);
        expect(idsOf((await store.readTenant(other, head, 10)).events)).toEqual([later.id]);
        expect((await store.readTenant(`t${unique()}`, head, 10)).events).toEqual([]);
        await expect(store.readTenant(other, head, 0)).rejects.toThrow(RangeError);
      });

      it("lists a tenant's streams by name, also those that hold events of several tenants", async () => {
        const { one, other, names } = await writeTenants();
        expect(await store.tenantStreams(one, undefined, 100)).toEqual(names);
        expect(await store.tenantStreams(one, undefined, 2)).toEqual(names.slice(0, 2));
        expect(await store.tenantStreams(one, names[1], 100)).toEqual(names.slice(2));
        expect(await store.tenantStreams(one, names[3], 100)).toEqual([]);
        expect(await store.tenantStreams(other, undefined, 100)).toEqual([
          `${category}-both`,
          `${category}-${other}+a`,
        ]);
        expect(await store.tenantStreams(`t${unique()}`, undefined, 100)).toEqual([]);
      });
    });

    describe('subscribe', () => {
      it('delivers stored events, then new ones, in order and in bounded batches', async () => {
        await store.append(stream, events(600), NO_STREAM);
        const collector = new Collector(store, { after: origin, categories: [category] });
        await collector.got(600);
        await store.append(stream, events(2), 599);
        await store.append(`${category}-other`, events(1), NO_STREAM);
        await collector.got(603);
        expect(idsOf(collector.events)).toEqual(idsOf(await readEverything(store, [category], 1000, origin)));
        expect(Math.max(...collector.batches)).toBeLessThanOrEqual(256);
        const last = collector.events.at(-1)!.position;
        if (under.shared) expect(store.comparePositions(collector.next!, last)).toBeGreaterThanOrEqual(0);
        else expect(collector.next).toBe(last);
        await collector.subscription.close();
      });

      it('starts exclusively after a position, and respects the batch size', async () => {
        await store.append(stream, events(10), NO_STREAM);
        const read = await readEverything(store, [category], 100, origin);
        const collector = new Collector(store, { after: read[3]!.position, categories: [category], batchSize: 2 });
        await collector.got(6);
        expect(idsOf(collector.events)).toEqual(idsOf(read.slice(4)));
        expect(Math.max(...collector.batches)).toBeLessThanOrEqual(2);
        await collector.subscription.close();
      });

      it('returns only the requested categories, and reports the skipped positions', async () => {
        const collector = new Collector(store, { after: origin, categories: [category] });
        await store.append(`other${category}-1`, events(300), NO_STREAM);
        await store.append(stream, events(1), NO_STREAM);
        const { position } = await store.append(`other${category}-1`, events(300), 299);
        await collector.got(1);
        await store.append(stream, events(1), 0);
        await collector.got(2);
        expect(collector.events.every((event) => event.stream === stream)).toBe(true);
        expect(store.comparePositions(collector.next!, position)).toBeGreaterThan(0);
        await collector.subscription.close();
      });

      it('misses no event while many writers append', async () => {
        const before = new Collector(store, { after: origin, categories: [category] });
        const late: Collector[] = [];
        await Promise.all(
          Array.from({ length: 32 }, async (_, writer) => {
            for (let n = 0; n < 15; n++) {
              await store.append(`${category}-${writer}`, events(1), n - 1);
              if (n === 5 && writer % 8 === 0)
                late.push(new Collector(store, { after: origin, categories: [category], batchSize: 7 }));
            }
          }),
        );
        const all = idsOf(await readEverything(store, [category], 1000, origin));
        expect(all).toHaveLength(480);
        expect(late).toHaveLength(4);
        for (const collector of [before, ...late]) {
          await collector.got(480);
          expect(idsOf(collector.events)).toEqual(all);
          await collector.subscription.close();
        }
      });

      it('drops only the subscription whose handler fails, and resumes it from its last position', async () => {
        await store.append(stream, events(4), NO_STREAM);
        const healthy = new Collector(store, { after: origin, categories: [category] });
        let faulty = true;
        const failing = new Collector(store, { after: origin, categories: [category], batchSize: 2 }, (batch) => {
          if (faulty && batch.some((event) => event.revision === 2)) throw new Error('broken');
        });
        await until(() => failing.dropped !== undefined, 'the drop');
        expect(failing.dropped!.message).toBe('broken');
        expect(failing.events.map((event) => event.revision)).toEqual([0, 1]);
        await store.append(stream, events(1), 3);
        await healthy.got(5);
        expect(healthy.dropped).toBeUndefined();
        expect(failing.events).toHaveLength(2);
        faulty = false;
        const again = new Collector(store, { after: failing.next, categories: [category] });
        await again.got(3);
        expect(again.events.map((event) => event.revision)).toEqual([2, 3, 4]);
        await Promise.all([healthy, failing, again].map((collector) => collector.subscription.close()));
      });

      it('waits for the current batch when it closes, and delivers nothing afterwards', async () => {
        await store.append(stream, events(4), NO_STREAM);
        let proceed!: () => void;
        const gate = new Promise<void>((resolve) => (proceed = resolve));
        let [entered, closed] = [false, false];
        const collector = new Collector(store, { after: origin, categories: [category], batchSize: 1 }, () => {
          entered = true;
          return gate;
        });
        await until(() => entered, 'the first batch');
        const closing = collector.subscription.close().then(() => (closed = true));
        await store.append(stream, events(1), 3);
        expect(closed).toBe(false);
        proceed();
        await closing;
        expect(collector.events).toHaveLength(1);
        const other = new Collector(store, { after: origin, categories: [category] });
        await other.got(5);
        expect(collector.events).toHaveLength(1);
        expect(collector.dropped).toBeUndefined();
        await other.subscription.close();
      });
    });

    describe('leases', () => itGrantsLeases(() => leases));

    it('keeps events, positions and leases over a restart', async () => {
      if (!under.reopen) return;
      const written = events(3);
      const first = await store.append(stream, written, NO_STREAM);
      const held = (await leases.acquire(`lease-${stream}`, 'a', 60_000))!;
      ({ store, leases } = await under.reopen());
      expect(idsOf(await store.readStream(stream))).toEqual(idsOf(written));
      expect(await store.append(stream, written, NO_STREAM)).toEqual(first);
      if (!under.shared) expect(await store.head()).toBe(first.position);
      expect(await leases.isHeld(held)).toBe(true);
      const second = await store.append(stream, events(1), 2);
      expect(store.comparePositions(second.position, first.position)).toBeGreaterThan(0);
      const collector = new Collector(store, { after: first.position, categories: [category] });
      await collector.got(1);
      expect(collector.events[0]!.revision).toBe(3);
      await collector.subscription.close();
    });
  });
}
