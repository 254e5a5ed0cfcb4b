import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CHAIN_START,
  chainEvent,
  EmbeddedEventStore,
  openEventStoreDb,
  openPostgresEvents,
  verifyChain,
  type EventStore,
  type NewEvent,
  type RecordedEvent,
} from '@attestry/event-store';
import { migrateEngines, openEngines, parseConfig } from '@attestry/service-kit';
import {
  findPostgres,
  ownEnvironment,
  PostgresServer,
  programOf,
  skipSuite,
  startEventStoreDbStandIn,
  waitUntil,
} from '@attestry/testing';
import { PUBLISHERS } from './publishers.js';
import { runCopy, type Summary } from './run-copy.js';

const PROGRAM = programOf('copy-events');
const MASTER_KEY = randomBytes(32).toString('base64url');
let folder: string;
let serial = 0;
const ends: (() => Promise<unknown> | void)[] = [];

beforeEach(async () => {
  settings = {};
  folder = await mkdtemp(join(tmpdir(), 'attestry-moving-'));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await rm(folder, { recursive: true });
});

const env = () => ({ ...ownEnvironment(), MASTER_KEY });
/** Besides the key, of the command under test. */
let settings: Record<string, string> = {};
const copy = (...words: string[]): Promise<Summary> =>
  runCopy(words, { MASTER_KEY, ...settings }, new AbortController().signal, () => undefined);
const refusal = async (...words: string[]): Promise<string> => {
  const error: unknown = await copy(...words).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  return (error as Error).message;
};

const eventsOf = (tenantId: string, count: number, type = 'Happened'): NewEvent[] => {
  let chain = CHAIN_START;
  return Array.from({ length: count }, (_, n) => {
    const metadata = { tenantId, requestId: 'r', actor: 'a', operation: 'o', correlationId: 'r', causationId: 'r' };
    const event = chainEvent(chain, {
      id: randomUUID(),
      type,
      schemaVersion: 1,
      data: { n },
      metadata: { ...metadata, occurredAt: new Date().toISOString(), partitionKey: tenantId },
    });
    chain = event.chain;
    return event;
  });
};
/** A data folder of a platform that was stopped: streams of two tenants, a claim of each, everything published. */
const dataFolder = async (name: string, streams: number) => {
  const at = join(folder, name);
  const config = parseConfig({ DATA_DIR: at, MASTER_KEY, LOG_LEVEL: 'silent' });
  const engines = await openEngines(config);
  const tenants = [randomUUID(), randomUUID()] as const;
  const { events, operationEvents } = engines;
  for (const tenantId of tenants) {
    await events.append(`tenant-${tenantId}`, eventsOf(tenantId, 2), -1);
    await events.append(`subdomain-${randomUUID()}+${tenantId}`, eventsOf(tenantId, 1), -1);
    await operationEvents.append(`operation-${tenantId}+2026-01`, eventsOf(tenantId, 5), -1);
  }
  // In portions, each one commit.
  for (let at = 0; at < streams; at += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, streams - at) }, (_, n) => {
        const tenantId = tenants[n % 2]!;
        return events.append(`issuanceSession-${tenantId}+s${at + n}`, eventsOf(tenantId, 1 + (n % 3)), -1);
      }),
    );
  const head = (await events.head())!;
  for (const { name: publisher } of PUBLISHERS) await engines.checkpoints.write(publisher, head);
  await engines.close();
  return { at, tenants };
};
const all = async (store: EventStore): Promise<Omit<RecordedEvent, 'position'>[]> => {
  const found: RecordedEvent[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.readAll({ after, limit: 1000 });
    found.push(...page.events);
    after = page.next;
    if (page.atEnd) return found.map(({ position: _, ...rest }) => rest);
  }
};
const inFile = async (file: string) => {
  const store = await EmbeddedEventStore.openFile({ file });
  try {
    return await all(store);
  } finally {
    await store.close();
  }
};

describe('npm run copy-events between folders', () => {
  it('copies domain and operation events, and nothing twice', async () => {
    const { at } = await dataFolder('a', 20);
    const to = join(folder, 'b');
    const first = await copy('--from', at, '--to', `file:${to}`);
    expect(first).toMatchObject({ complete: true, operations: { copied: 10 }, events: { present: 0, complete: true } });
    for (const file of ['events.db', 'operations.db'])
      expect(await inFile(join(to, file))).toEqual(await inFile(join(at, file)));
    const again = await copy('--from', at, '--to', to);
    expect(again.events).toMatchObject({ copied: 0, present: first.events!.copied });
    const single = await copy('--from', `file:${at}/operations.db`, '--to', `file:${folder}/c/operations.db`);
    expect(single).toMatchObject({ operations: { copied: 10 } });
    expect(single.events).toBeUndefined();
  }, 60_000);

  it('refuses a source that a platform uses, or whose publishers lag', async () => {
    const { at, tenants } = await dataFolder('a', 3);
    const to = join(folder, 'b');
    const engines = await openEngines(parseConfig({ DATA_DIR: at, MASTER_KEY, LOG_LEVEL: 'silent' }));
    expect(await refusal('--from', at, '--to', to)).toContain('a is in use by another process');
    const live = await copy('--from', at, '--to', to, '--live');
    expect(live).toMatchObject({ complete: false, events: { complete: false } });
    await engines.events.append(`did-${tenants[0]}+d`, eventsOf(tenants[0], 1), -1);
    await engines.close();
    const untold = await refusal('--from', at, '--to', to);
    expect(untold).toContain('has events that were not published or not consumed (dids.publisher)');
    // A copy of a running source is not complete, and a platform refuses it.
    const starting = openEngines(parseConfig({ DATA_DIR: to, MASTER_KEY, LOG_LEVEL: 'silent' }));
    await expect(starting).rejects.toThrow(/checkpoint 999999999999999 of \w+\.publisher is beyond the head/);
    const rest = await copy('--from', at, '--to', to, '--leave-unpublished');
    expect(rest).toMatchObject({ complete: true, events: { copied: 1 } });
    await (await openEngines(parseConfig({ DATA_DIR: to, MASTER_KEY, LOG_LEVEL: 'silent' }))).close();
  }, 60_000);

  it('names the consumers that have not read the whole feed, and copies once they have', async () => {
    const { at } = await dataFolder('a', 3);
    const to = join(folder, 'b');
    const engines = await openEngines(parseConfig({ DATA_DIR: at, MASTER_KEY, LOG_LEVEL: 'silent' }));
    const name = 'webhooks.deliveries';
    const consume = (handler: () => Promise<void>) =>
      engines.bus.consume({ name, subjects: ['event.dids.did-created'] }, handler);
    const failing = consume(() => Promise.reject(new Error('away')));
    await engines.bus.publish([{ id: 'e1', subject: 'event.dids.did-created', data: {} }]);
    await waitUntil(() => failing.health.error === 'away');
    await engines.close();
    expect(await refusal('--from', at, '--to', to)).toContain(`not published or not consumed (${name}),`);

    const again = await openEngines(parseConfig({ DATA_DIR: at, MASTER_KEY, LOG_LEVEL: 'silent' }));
    const read = again.bus.consume({ name, subjects: ['event.dids.did-created'] }, () => Promise.resolve());
    await waitUntil(() => read.health.acknowledged !== undefined);
    await again.close();
    expect(await copy('--from', at, '--to', to)).toMatchObject({ complete: true });
  }, 60_000);

  it('names the fault in its arguments', async () => {
    expect(await refusal('--from', folder)).toContain('usage: npm run copy-events');
    expect(await refusal('--from', folder, '--to', 'mysql://localhost/x')).toContain('mysql: is not supported');
    expect(await refusal('--from', join(folder, 'nowhere'), '--to', folder)).toContain('nowhere does not exist');
    expect(await refusal('--from', folder, '--to', 'esdb://127.0.0.1:1?tls=false', '--only', 'events')).toMatch(
      /events\.db does not exist|--to-checkpoints/,
    );
  });
});

const programs = findPostgres();
if (!programs)
  skipSuite('npm run copy-events: PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');
(programs ? describe : describe.skip)('npm run copy-events: PostgreSQL', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await PostgresServer.start(programs!);
  }, 60_000);
  afterAll(() => postgres.stop());

  const migrated = async () => {
    const schema = `moving${++serial}`;
    const settings = { DATABASE_URL: postgres.url(), DATABASE_SCHEMA: schema, MASTER_KEY, LOG_LEVEL: 'silent' };
    await migrateEngines(parseConfig(settings, undefined, 'migrate'));
    const open = async (name = schema) => {
      const store = await openPostgresEvents({ url: postgres.url(), schema: name, onFailure: () => undefined });
      ends.push(() => store.close());
      return store;
    };
    const start = () => openEngines(parseConfig({ ...settings, DATA_DIR: join(folder, `d${++serial}`) }));
    return { schema, location: `${postgres.url()}?schema=${schema}`, open, start };
  };

  it('continues after a kill, on a target that no platform starts on before; and copies back', async () => {
    const { at } = await dataFolder('a', 3000);
    const { location, open, start } = await migrated();
    const child = spawn(process.execPath, ['--no-warnings', PROGRAM, '--from', at, '--to', location], { env: env() });
    const killed = new Promise((resolve) => child.once('exit', resolve));
    child.stderr.on('data', (received: Buffer) => {
      if (String(received).startsWith('events:')) child.kill('SIGKILL');
    });
    await killed;
    const store = await open();
    const there = (await all(store)).length;
    const written = await inFile(join(at, 'events.db'));
    expect(there).toBeGreaterThan(0);
    expect(there).toBeLessThan(written.length);
    await expect(start()).rejects.toThrow(/is beyond the head of the event store/);
    // The leases of the killed one run out.
    let rest: Summary | undefined;
    for (const end = Date.now() + 45_000; !rest;)
      try {
        rest = await copy('--from', at, '--to', location);
      } catch (error) {
        if (Date.now() > end || !(error as Error).message.includes('a platform is running on')) throw error;
      }
    expect(rest.events).toMatchObject({ copied: written.length - there, present: there, reordered: 0 });
    const copied = await all(store);
    expect(copied).toEqual(written);
    for (const stream of Map.groupBy(copied, (event) => event.stream).values())
      expect(verifyChain(stream)).toMatchObject({ intact: true });
    const head = (await store.head())!;
    for (const { name } of PUBLISHERS) expect(await store.checkpoints.read(name)).toBe(head);
    await (await start()).close();

    const back = join(folder, 'back');
    await copy('--from', location, '--to', back);
    expect(await inFile(join(back, 'events.db'))).toEqual(written);
    expect(await inFile(join(back, 'operations.db'))).toEqual(await inFile(join(at, 'operations.db')));
  }, 180_000);

  it.each([
    ['', {}, undefined],
    ['?prefix=one', { EVENTSTORE_PREFIX: 'two' }, 'one'],
    ['', { EVENTSTORE_PREFIX: 'two' }, 'two'],
    ['?prefix=', { EVENTSTORE_PREFIX: 'two' }, undefined],
  ])(
    'moves through EventStoreDB (stand-in)%s, whose checkpoints are in a separate schema, with %o',
    async (query, env: Record<string, string>, prefix) => {
      settings = env;
      const { at } = await dataFolder('a', 30);
      const standIn = await startEventStoreDbStandIn();
      ends.push(() => standIn.stop());
      const { location, schema } = await migrated();
      const esdb = `${standIn.url}${query.replace('?', '&')}`;
      expect(await refusal('--from', at, '--to', esdb)).toContain('--to-checkpoints');
      const there = await copy('--from', at, '--to', esdb, '--to-checkpoints', location);
      expect(there.complete).toBe(true);
      const server = await openEventStoreDb({ url: standIn.url, prefix, onFailure: () => undefined });
      ends.push(() => server.close());
      const coordination = await openPostgresEvents({ url: postgres.url(), schema, onFailure: () => undefined });
      ends.push(() => coordination.close());
      expect(await coordination.checkpoints.read('dids.publisher')).toBe(await server.head());
      // In a schema with checkpoints of another kind of store it is refused.
      const other = await migrated();
      const used = await other.open();
      await used.checkpoints.write('dids.finish-deletions', '12');
      expect(await refusal('--from', at, '--to', esdb, '--to-checkpoints', other.location)).toMatch(
        /^the checkpoint dids\.finish-deletions at .* is of another kind of event store/,
      );
      const back = join(folder, 'back');
      await copy('--from', esdb, '--from-checkpoints', location, '--to', back);
      for (const file of ['events.db', 'operations.db'])
        expect(await inFile(join(back, file))).toEqual(await inFile(join(at, file)));
    },
    120_000,
  );

  it('moves one tenant to a store with other tenants, whose publishers continue', async () => {
    const { at, tenants } = await dataFolder('a', 30);
    const resident = await dataFolder('b', 10);
    const { location, open } = await migrated();
    await copy('--from', resident.at, '--to', location);
    const store = await open();
    const before = await all(store);
    const moved = await copy('--from', at, '--to', location, '--tenant', tenants[1]);
    expect(moved.complete).toBe(true);
    const wanted = (await inFile(join(at, 'events.db'))).filter(({ metadata }) => metadata.tenantId === tenants[1]);
    expect(wanted.some(({ stream }) => stream.startsWith('subdomain-'))).toBe(true);
    expect((await all(store)).slice(before.length)).toEqual(wanted);
    // Unpublished events there are not hidden by a further tenant.
    await store.append(`did-${resident.tenants[0]}+d`, eventsOf(resident.tenants[0], 1), -1);
    expect(await refusal('--from', at, '--to', location, '--tenant', tenants[0])).toContain(
      'has events that it has not published (dids.publisher)',
    );
  }, 120_000);

  it('is refused while a platform runs', async () => {
    const { at } = await dataFolder('a', 3);
    const { location, start } = await migrated();
    const running = await start();
    expect(await refusal('--from', at, '--to', location)).toContain('a platform is running on');
    await running.close();
    expect(await copy('--from', at, '--to', location)).toMatchObject({ complete: true });
  }, 60_000);
});
