import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { findPostgres, PostgresServer, skipSuite, startEventStoreDbStandIn } from '@attestry/testing';
import { CHAIN_START, chainEvent, verifyChain } from '../chain.js';
import { EmbeddedEventStore } from '../embedded/embedded-event-store.js';
import {
  EventStoreUnavailable,
  NO_STREAM,
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  type StreamName,
} from '../event-store.js';
import { openEventStoreDb } from '../eventstoredb/load-eventstoredb.js';
import { migratePostgresEvents, openPostgresEvents } from '../postgres/load-postgres.js';
import { BrokenChain, copyEvents, TargetDiffers } from './copy-events.js';

const programs = findPostgres();
let folder: string;
let postgres: PostgresServer | undefined;
const ends: (() => Promise<unknown> | void)[] = [];
let serial = 0;

beforeAll(async () => {
  if (programs) postgres = await PostgresServer.start(programs);
}, 60_000);
afterAll(() => postgres?.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attestry-copy-'));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await rm(folder, { recursive: true });
});

const kept = <Store extends EventStore>(store: Store): Store => {
  ends.push(() => store.close());
  return store;
};
const embedded = async (name = `events${++serial}.db`) =>
  kept(await EmbeddedEventStore.openFile({ file: join(folder, name) }));
const inPostgres = async () => {
  const options = { url: postgres!.url(), schema: `copy${++serial}` };
  await migratePostgresEvents(options, { events: true });
  return kept(await openPostgresEvents({ ...options, onFailure: () => undefined }));
};
const inStandIn = async (more: { retentionDays?: number; prefix?: string } = {}) => {
  const standIn = await startEventStoreDbStandIn();
  ends.push(() => standIn.stop());
  return kept(await openEventStoreDb({ url: standIn.url, ...more, onFailure: () => undefined }));
};
const withRetention = () => inStandIn({ retentionDays: 400, prefix: 'copy' });

/** Writes a history as services do, each event chained to the previous one. */
class Author {
  private readonly ends = new Map<StreamName, { revision: number; chain: string }>();
  readonly tenantId = randomUUID();
  constructor(private readonly store: EventStore) {}

  stream(category: string, id: string): StreamName {
    return `${category}-${this.tenantId}+${id}`;
  }

  async write(stream: StreamName, count = 1, data?: (n: number) => unknown): Promise<void> {
    let { revision, chain } = this.ends.get(stream) ?? { revision: NO_STREAM, chain: CHAIN_START };
    const events = Array.from({ length: count }, (_, n): NewEvent => {
      const event = chainEvent(chain, {
        id: randomUUID(),
        type: 'Happened',
        schemaVersion: 1 + (n % 2),
        data: data?.(n) ?? { n, text: `Grüße ${n} \u0000 "quoted"`, list: [1.5, null, true], nested: { at: serial } },
        metadata: {
          tenantId: this.tenantId,
          requestId: 'r1',
          actor: 'service:test',
          operation: 'test',
          correlationId: 'r1',
          causationId: 'r1',
          occurredAt: '2026-01-02T03:04:05.678Z',
          partitionKey: this.tenantId,
          ...(n % 3 === 0 && { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }),
          ...(n % 3 === 1 && { sourceSequence: String(1000 + n) }),
        },
      });
      chain = event.chain;
      return event;
    });
    ({ revision } = await this.store.append(stream, events, revision));
    this.ends.set(stream, { revision, chain });
  }

  /** Streams that take turns, some with several events at once. */
  async history(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await this.write(this.stream('did', `d${round % 3}`), 1 + (round % 2));
      await this.write(this.stream('issuanceSession', `s${round}`), 1 + (round % 4));
      if (round % 5 === 0) await this.write(`subdomain-env+n${this.tenantId}${round}`);
    }
  }
}

const all = async (store: EventStore): Promise<RecordedEvent[]> => {
  const found: RecordedEvent[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.readAll({ after, limit: 100 });
    found.push(...page.events);
    after = page.next;
    if (page.atEnd) return found;
  }
};
const withoutPositions = (events: readonly RecordedEvent[]) => events.map(({ position: _, ...rest }) => rest);
const ofTenant = (tenantId: string) => (event: RecordedEvent) => event.metadata.tenantId === tenantId;
const expectIntact = (events: readonly RecordedEvent[]) => {
  for (const stream of Map.groupBy(events, (event) => event.stream).values())
    expect(verifyChain(stream)).toMatchObject({ intact: true });
};

/** A target that fails permanently after this number of appends, as if its process had been killed. */
const dyingAfter = (store: EventStore, appends: number): EventStore => {
  let left = appends;
  const append: EventStore['append'] = (...args) =>
    left-- > 0 ? store.append(...args) : Promise.reject(new Error('killed'));
  return Object.assign(Object.create(store) as EventStore, { append });
};

describe('copying events', () => {
  const journeys: [string, (() => Promise<EventStore>)[]][] = [
    ['embedded to EventStoreDB (stand-in) that discards old events, and back', [withRetention, embedded]],
    ['embedded to EventStoreDB (stand-in) and back', [() => inStandIn(), embedded]],
  ];
  if (programs) {
    journeys.push(['embedded to PostgreSQL and back', [inPostgres, embedded]]);
    journeys.push([
      'embedded to PostgreSQL to EventStoreDB (stand-in) and back',
      [inPostgres, () => inStandIn(), embedded],
    ]);
  } else skipSuite('copying events: PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');

  it.each(journeys)('copies every event unchanged: %s', async (_name, stores) => {
    const first = await embedded();
    await new Author(first).history(60);
    await new Author(first).history(7);
    const written = withoutPositions(await all(first));
    let from: EventStore = first;
    for (const open of stores) {
      const to = await open();
      const counts = await copyEvents(from, to);
      expect(counts).toMatchObject({ read: written.length, copied: written.length, present: 0, reordered: 0 });
      const copied = await all(to);
      expect(withoutPositions(copied)).toEqual(written);
      expectIntact(copied);
      from = to;
    }
  });

  const url = process.env['EVENTSTORE_URL'];
  if (!url) skipSuite('copying events: EventStoreDB', 'EVENTSTORE_URL is not set');
  if (url)
    it('copies every event unchanged through a real EventStoreDB that other applications use', async () => {
      const first = await embedded();
      const author = new Author(first);
      await author.history(60);
      const written = withoutPositions(await all(first));
      const prefix = `copy${process.pid.toString(36)}${Date.now().toString(36)}`;
      const server = kept(await openEventStoreDb({ url, prefix, retentionDays: 400, onFailure: () => undefined }));
      expect(await copyEvents(first, server)).toMatchObject({ copied: written.length, reordered: 0 });
      expect(await copyEvents(first, server)).toMatchObject({ copied: 0, present: written.length });
      const last = await embedded();
      await copyEvents(server, last, { wanted: ofTenant(author.tenantId) });
      expect(withoutPositions(await all(last))).toEqual(written);
    });

  const targets: [string, () => Promise<EventStore>][] = [
    ['embedded', embedded],
    ['EventStoreDB (stand-in)', () => inStandIn()],
    ['EventStoreDB (stand-in) that discards old events', withRetention],
  ];
  if (programs) targets.push(['PostgreSQL', inPostgres]);

  it.each(targets)('continues after an interruption: %s', async (_name, open) => {
    const from = await embedded();
    await new Author(from).history(80);
    const written = withoutPositions(await all(from));
    const to = await open();
    for (const appends of [1, 30, 60])
      await expect(copyEvents(from, dyingAfter(to, appends))).rejects.toThrow('killed');
    const there = (await all(to)).length;
    expect(there).toBeGreaterThan(30);
    expect(await copyEvents(from, to)).toMatchObject({ copied: written.length - there, present: there, reordered: 0 });
    expect(withoutPositions(await all(to))).toEqual(written);
    expect(await copyEvents(from, to)).toMatchObject({ copied: 0, streams: 0, present: written.length });
  });

  it('waits for a target that is unreachable', async () => {
    const from = await embedded();
    await new Author(from).history(10);
    const to = await embedded();
    let failures = 2;
    const append: EventStore['append'] = (...args) =>
      failures-- > 0 ? Promise.reject(new EventStoreUnavailable('away')) : to.append(...args);
    await copyEvents(from, Object.assign(Object.create(to) as EventStore, { append }));
    expect(
      withoutPositions(await all(to))
        .map(({ id }) => id)
        .sort(),
    ).toEqual(
      withoutPositions(await all(from))
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('copies newer events, and does not touch events that the target has written', async () => {
    const [from, to] = [await embedded(), await embedded()];
    const author = new Author(from);
    await author.history(5);
    await copyEvents(from, to);
    await author.history(2);
    const others = new Author(to);
    await others.history(3);
    expect((await copyEvents(from, to)).copied).toBeGreaterThan(0);
    const copied = await all(to);
    expect(withoutPositions(copied).filter(ofTenant(author.tenantId) as never)).toEqual(
      withoutPositions(await all(from)),
    );
    expectIntact(copied);
  });

  it.each([
    [
      'changed',
      (db: DatabaseSync) =>
        db.exec(`UPDATE events SET data = '{"n":"forged"}' WHERE stream LIKE '%+s2' AND revision = 1`),
    ],
    ['missing', (db: DatabaseSync) => db.exec(`DELETE FROM events WHERE stream LIKE '%+s2' AND revision = 1`)],
    [
      'missing at the beginning',
      (db: DatabaseSync) => db.exec(`DELETE FROM events WHERE stream LIKE '%+s2' AND revision = 0`),
    ],
  ])('stops at an event that is %s, and names it', async (what, tamper) => {
    const from = await embedded('tampered.db');
    const author = new Author(from);
    await author.history(10);
    await from.close();
    const db = new DatabaseSync(join(folder, 'tampered.db'));
    tamper(db);
    db.close();
    const to = await embedded();
    const error: unknown = await copyEvents(await embedded('tampered.db'), to).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BrokenChain);
    const revision = what.endsWith('beginning') ? 0 : 1;
    expect(error).toMatchObject({ stream: author.stream('issuanceSession', 's2'), revision });
    expect((error as Error).message).toContain(`+s2 is broken at revision ${revision}`);
    const copied = await all(to);
    expect(copied.every(({ stream, revision: at }) => !stream.endsWith('+s2') || at < revision)).toBe(true);
    expectIntact(copied);
  });

  it('copies one tenant among others, and refuses a stream of another tenant', async () => {
    const [from, to] = [await embedded(), await embedded()];
    const [one, other, resident] = [new Author(from), new Author(from), new Author(to)];
    for (const author of [one, other, resident]) await author.history(6);
    const before = (await all(to)).length;
    await copyEvents(from, to, { wanted: ofTenant(one.tenantId) });
    const copied = await all(to);
    expect(withoutPositions(copied.slice(before))).toEqual(
      withoutPositions((await all(from)).filter(ofTenant(one.tenantId))),
    );
    // The same name with another history.
    const taken = 'subdomain-env+taken';
    await one.write(taken);
    await resident.write(taken);
    const error: unknown = await copyEvents(from, to, { wanted: ofTenant(one.tenantId) }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(TargetDiffers);
    expect(error).toMatchObject({ stream: taken, revision: 0 });
    expect((await to.readStream(taken)).map(({ metadata }) => metadata.tenantId)).toEqual([resident.tenantId]);
  });

  it.each(targets)(
    'reads only the events of one tenant, and its streams from their beginning: %s',
    async (_name, open) => {
      const from = await open();
      const [one, other] = [new Author(from), new Author(from)];
      for (const author of [one, other]) await author.history(6);
      // A claim of the other tenant that this one took over.
      const claim = 'subdomain-env+taken-over';
      await other.write(claim, 3);
      const { chain } = (await from.readStream(claim)).at(-1)!;
      const [model] = await from.readStream(one.stream('did', 'd0'));
      const { type, data, metadata } = model!;
      const taken = chainEvent(chain, { id: randomUUID(), type, schemaVersion: 1, data, metadata });
      await from.append(claim, [taken], 2);
      const readAll: EventStore['readAll'] = () => Promise.reject(new Error('reads everything'));
      const source = Object.assign(Object.create(from) as EventStore, { readAll });
      const to = await embedded();
      const counts = await copyEvents(source, to, { tenantId: one.tenantId });
      const copied = await all(to);
      const wanted = (await all(from)).filter(ofTenant(one.tenantId)).length;
      expect(counts).toMatchObject({ read: wanted, copied: wanted + 3 });
      for (const [stream, events] of Map.groupBy(copied, (event) => event.stream))
        expect(withoutPositions(events)).toEqual(withoutPositions(await from.readStream(stream)));
      expectIntact(copied);
      expect(await copyEvents(source, to, { tenantId: one.tenantId })).toMatchObject({
        copied: 0,
        present: wanted + 3,
      });
    },
  );

  it('refuses a target with a different history', async () => {
    const [from, to] = [await embedded(), await embedded()];
    const author = new Author(from);
    await author.write('did-x', 2);
    await copyEvents(from, to);
    await author.write('did-x');
    await to.append('did-x', [{ ...(await from.readStream('did-x'))[0]!, id: randomUUID() }], 1);
    await expect(copyEvents(from, to)).rejects.toMatchObject({ code: 'TargetDiffers', stream: 'did-x', revision: 2 });
  });

  it('copies the contexts that an event needs, unless the target has them, whichever tenant wrote them', async () => {
    const [from, to] = [await embedded(), await embedded()];
    const [keeper, tenant, resident] = [new Author(from), new Author(from), new Author(to)];
    for (const name of ['context-a', 'context-b']) await keeper.write(name);
    await resident.write('context-b');
    await tenant.write(tenant.stream('credentialConfiguration', 'c1'), 2);
    const options = {
      wanted: ofTenant(tenant.tenantId),
      needs: ({ stream }: RecordedEvent) =>
        stream.startsWith('credentialConfiguration-') ? ['context-a', 'context-b'] : [],
      interchangeable: ['context'],
    };
    await copyEvents(from, to, options);
    expect((await all(to)).map(({ stream, metadata }) => [stream, metadata.tenantId])).toEqual([
      ['context-b', resident.tenantId],
      ['context-a', keeper.tenantId],
      [tenant.stream('credentialConfiguration', 'c1'), tenant.tenantId],
      [tenant.stream('credentialConfiguration', 'c1'), tenant.tenantId],
    ]);
    expect(await copyEvents(from, to, options)).toMatchObject({ copied: 0 });
  });

  it('renumbers a stream whose first events were discarded, when requested', async () => {
    const [from, to] = [await embedded(), await embedded()];
    const author = new Author(from);
    const stream = author.stream('operation', '2026-01');
    await author.write(stream, 3);
    const db = new DatabaseSync(join(folder, `events${serial - 1}.db`), { timeout: 5000 });
    db.exec('DELETE FROM events WHERE revision = 0');
    db.close();
    await expect(copyEvents(from, to)).rejects.toMatchObject({ code: 'BrokenChain', stream, revision: 0 });
    expect(await copyEvents(from, to, { discarded: 'renumber' })).toMatchObject({ copied: 2, renumbered: 1 });
    const ids = (await from.readStream(stream)).map(({ id }) => id);
    expect((await to.readStream(stream)).map(({ id, revision }) => [id, revision])).toEqual([
      [ids[0], 0],
      [ids[1], 1],
    ]);
    await author.write(stream);
    expect(await copyEvents(from, to, { discarded: 'renumber' })).toMatchObject({ copied: 1, present: 2 });
  });
});
