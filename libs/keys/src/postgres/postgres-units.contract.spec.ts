import { randomUUID } from 'node:crypto';
import {
  anEvent,
  EventStoreUnavailable,
  migratePostgresEvents,
  openPostgresEvents,
  WrongExpectedRevision,
  type EventStore,
  type NewEvent,
  type StreamAppend,
} from '@attestry/event-store';
import { describeOnPostgres, FaultyProxy, SeededRandom, waitUntil } from '@attestry/testing';
import pg from 'pg';
import { KeyAlreadyExists, KeyNotFound, type KeyVault } from '../vault/key-vault.js';
import { ERASED, type Sealed } from '../vault/sealing.js';
import { migratePostgresKeys, openPostgresKeyVault } from './load-postgres.js';

const masterKeys = { current: { version: 1, key: new Uint8Array(32).fill(7) } };

const to = (stream: string, expected = -1, ...events: NewEvent[]): StreamAppend => ({
  stream,
  expected,
  events: events.length ? events : [anEvent()],
});

describeOnPostgres('units of work on PostgreSQL', (server) => {
  let tests = 0;
  let schema: string;
  let admin: pg.Client;
  let store: EventStore;
  let vault: KeyVault;
  const opened: { close(): Promise<void> }[] = [];
  const keep = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
    const engine = await opening;
    opened.push(engine);
    return engine;
  };
  const onFailure = () => undefined;
  const openStore = (url = server().url()) => keep(openPostgresEvents({ url, schema, onFailure }));
  const openVault = (url = server().url()) =>
    keep(openPostgresKeyVault({ url, schema: `${schema}_keys`, masterKeys, onFailure }));
  const connect = async (url = server().url()) => {
    const client = new pg.Client(url);
    await client.connect();
    opened.push({ close: () => client.end() });
    return client;
  };
  const migrate = async (serviceRole?: string) => {
    schema = `units${++tests}`;
    const owner = { url: server().url(), ...(serviceRole !== undefined && { serviceRole }) };
    await migratePostgresEvents({ ...owner, schema }, { events: true });
    await migratePostgresKeys({ ...owner, schema: `${schema}_keys` });
  };
  beforeEach(async () => {
    await migrate();
    admin = await connect();
    [store, vault] = await Promise.all([openStore(), openVault()]);
    await vault.sealing.createDataKey('t1', 'user', 'first');
  });
  afterEach(async () => {
    for (const engine of opened.splice(0).reverse()) await engine.close();
  });

  const seal = (keyId: string, text = keyId, tenantId = 't1') =>
    vault.sealing.sealWithNewKey(tenantId, 'session', keyId, text);
  /** Another process reads: no key is in its cache. */
  const openElsewhere = async (sealed: Sealed, tenantId = 't1') =>
    (await openVault()).sealing.openSealed(tenantId, 'session', sealed);
  const eventsOf = async () => (await store.readAll({ limit: 1000 })).events.map(({ stream }) => stream);
  const keyIds = async () =>
    (
      await admin.query<{ id: string }>(`SELECT id FROM ${schema}_keys.data_keys WHERE purpose = 'session' ORDER BY id`)
    ).rows.map(({ id }) => id);
  /** Transactions that wrote the events and keys. */
  const transactions = async () => {
    const { rows } = await admin.query<{ xmin: string; rows: number }>(
      `SELECT xmin::text, count(*)::integer AS rows FROM (
         SELECT xmin FROM ${schema}.events
         UNION ALL SELECT xmin FROM ${schema}_keys.data_keys WHERE purpose = 'session') AS written
       GROUP BY xmin::text ORDER BY 2`,
    );
    return rows.map((row) => row.rows);
  };

  it('are stored with their keys in one transaction', async () => {
    const [one, two] = [seal('one'), seal('two')];
    const result = await store.commit({
      writes: [one.newKey, two.newKey],
      appends: [to('a-1'), to('a-2', -1, anEvent(), anEvent()), to('b-1')],
    });
    expect(result).toEqual({ revision: 0, position: '4' });
    expect(await transactions()).toEqual([6]);
    expect(await eventsOf()).toEqual(['a-1', 'a-2', 'a-2', 'b-1']);
    expect([await openElsewhere(one.sealed), await openElsewhere(two.sealed)]).toEqual(['one', 'two']);
    // Stored with the events: nothing is left to store.
    await one.newKey.store();
    expect(await vault.sealing.openSealed('t1', 'session', one.sealed)).toBe('one');
  });

  it('share a transaction with others, of which the refused leave nothing', async () => {
    await vault.sealing.createDataKey('t1', 'session', 'existing');
    await vault.sealing.destroyDataKeys('t1', ['destroyed']);
    await vault.sealing.createDataKey('ended', 'user', 'u1');
    await store.append('a-taken', [anEvent()], -1);
    const afterPurge = vault.sealing.sealWithNewKey('ended', 'session', 'afterwards', 'x');
    await (await openVault()).destroyTenant('ended');
    const before = await eventsOf();
    const commit = (key: ReturnType<typeof seal> | undefined, ...appends: [...StreamAppend[], StreamAppend]) =>
      store.commit({ writes: key ? [key.newKey] : [], appends });
    const answers = await Promise.allSettled([
      store.append('a-0', [anEvent()], -1),
      commit(seal('good'), to('a-1'), to('a-2')),
      commit(seal('refused'), to('a-3'), to('a-taken')),
      commit(seal('existing'), to('a-4'), to('a-5')),
      commit(seal('destroyed'), to('a-6')),
      commit(afterPurge, to('a-7')),
      commit(undefined, to('a-8'), to('a-taken')),
      store.append('a-9', [anEvent()], -1),
      commit(seal('better'), to('a-9', 0), to('a-10')),
    ]);
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? 'stored' : (answer.reason as Error).name))).toEqual(
      [
        'stored',
        'stored',
        'WrongExpectedRevision',
        'KeyAlreadyExists',
        'KeyNotFound',
        'KeyNotFound',
        'WrongExpectedRevision',
        'stored',
        'stored',
      ],
    );
    expect(answers[2]).toMatchObject({ reason: { stream: 'a-taken', expected: -1, actual: 0 } });
    expect(answers[6]).toMatchObject({ reason: { stream: 'a-taken', expected: -1, actual: 0 } });
    expect((await eventsOf()).slice(before.length)).toEqual(['a-0', 'a-9', 'a-1', 'a-2', 'a-9', 'a-10']);
    expect(await keyIds()).toEqual(['better', 'existing', 'good']);
    // All but the first appends, which found no group to wait for.
    expect((await transactions()).at(-1)).toBe(7);
  });

  it('are stored with the values of their keys, which a refused unit does not leave', async () => {
    await store.append('a-taken', [anEvent()], -1);
    const [one, refused] = ['one', 'refused'].map((id) => vault.sealing.storeWithNewKey('t1', 'session', id, id));
    const plain = seal('plain');
    const answers = await Promise.allSettled([
      store.append('a-0', [anEvent()], -1),
      store.commit({ writes: [plain.newKey, one!.newKey], appends: [to('a-1')] }),
      store.commit({ writes: [refused!.newKey], appends: [to('a-2'), to('a-taken')] }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const { rows } = await admin.query(
      `SELECT id, octet_length(value) AS length, xmin = (SELECT xmin FROM ${schema}.events WHERE stream = 'a-1') AS together
       FROM ${schema}_keys.sealed_values`,
    );
    expect(rows).toEqual([{ id: 'one', length: one!.stored.length, together: true }]);
    expect(await (await openVault()).sealing.openStored('t1', 'session', one!.stored)).toBe('one');
    expect(await openElsewhere(plain.sealed)).toBe('plain');
  });

  it('are stored after a conflict, with the same key', async () => {
    await store.append('a-1', [anEvent()], -1);
    const { sealed, newKey } = seal('s1', 'text');
    const [further, last] = [to('a-2'), to('a-1')];
    await expect(store.commit({ writes: [newKey], appends: [further, last] })).rejects.toThrow(WrongExpectedRevision);
    expect(await keyIds()).toEqual([]);
    await expect(vault.sealing.openSealed('t1', 'session', sealed)).rejects.toThrow(KeyNotFound);
    await store.commit({ writes: [newKey], appends: [further, { ...last, expected: 0 }] });
    expect(await openElsewhere(sealed)).toBe('text');
    expect(await eventsOf()).toEqual(['a-1', 'a-2', 'a-1']);
  });

  it('have the first result when they are repeated because the answer was lost', async () => {
    const proxy = await FaultyProxy.start(server().port);
    opened.push({ close: () => proxy.stop() });
    const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
    const [remote, remoteVault] = await Promise.all([openStore(url), openVault(url)]);
    const { sealed, newKey } = remoteVault.sealing.sealWithNewKey('t1', 'session', 's1', 'text');
    await remoteVault.sealing.createDataKey('t1', 'session', 'warm');
    await remote.append('a-0', [anEvent()], -1);
    const unit = { writes: [newKey], appends: [to('a-1'), to('a-2')] as [StreamAppend, StreamAppend] };
    proxy.loseAnswers();
    const outcome = remote.commit(unit).catch((error: unknown) => error);
    await waitUntil(async () => (await eventsOf()).length === 3);
    proxy.cut();
    expect(await outcome).toBeInstanceOf(EventStoreUnavailable);
    await store.append('a-2', [anEvent()], 0);
    expect(await remote.commit(unit)).toEqual({ revision: 0, position: '3' });
    expect(await eventsOf()).toEqual(['a-0', 'a-1', 'a-2', 'a-2']);
    expect(await remoteVault.sealing.openSealed('t1', 'session', sealed)).toBe('text');
    expect(await openElsewhere(sealed)).toBe('text');
  });

  it('are refused for the values of one without effect on the others of the group', async () => {
    const large = Array.from({ length: 3 }, (_, n) => seal(`s${n}`));
    const answers = await Promise.allSettled([
      store.append('a-0', [anEvent()], -1),
      store.commit({ writes: [large[0]!.newKey], appends: [to('a-1'), to('b-1')] }),
      store.commit({ writes: [large[1]!.newKey], appends: [to('a-2'), to('b-2', -1, anEvent({ id: 'with \0' }))] }),
      store.commit({ writes: [large[2]!.newKey], appends: [to('a-3'), to('b-3')] }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await eventsOf()).toEqual(['a-0', 'a-1', 'b-1', 'a-3', 'b-3']);
    expect(await keyIds()).toEqual(['s0', 's2']);
  });

  it('store keys of another database first, and single-use values before the transaction', async () => {
    await admin.query(`CREATE DATABASE keys_of_${schema}`);
    const url = server()
      .url()
      .replace(/postgres$/, `keys_of_${schema}`);
    await migratePostgresKeys({ url, schema: `${schema}_keys` });
    const { sealing } = await openVault(url);
    await sealing.createDataKey('t1', 'user', 'u1');
    const { sealed, newKey } = sealing.sealWithNewKey('t1', 'session', 's1', 'text');
    const steps: string[] = [];
    const noted = {
      ...newKey,
      store: async () => {
        await newKey.store();
        steps.push('key');
      },
    };
    const spending = {
      kind: 'single-use' as const,
      store: async () => void steps.push(`spent, ${(await eventsOf()).length} events`),
      partOf: async () => undefined,
    };
    await store.commit({ writes: [spending, noted], appends: [to('a-1'), to('a-2')] });
    expect(steps).toEqual(['key', 'spent, 0 events']);
    expect(await sealing.openSealed('t1', 'session', sealed)).toBe('text');
    expect(await keyIds()).toEqual([]);
    const refused = seal('here');
    const used = { ...spending, store: async () => Promise.reject(new Error('spent already')) };
    await expect(store.commit({ writes: [refused.newKey, used], appends: [to('a-3')] })).rejects.toThrow(
      'spent already',
    );
    expect([await keyIds(), (await eventsOf()).length]).toEqual([[], 2]);
    // The key of the refused unit is not one of this process either.
    await expect(vault.sealing.openSealed('t1', 'session', refused.sealed)).rejects.toThrow(KeyNotFound);
  });

  it('of two with the same new key one is stored', async () => {
    const answers = await Promise.allSettled(
      [1, 2, 3].map((n) => store.commit({ writes: [seal('s1', `text ${n}`).newKey], appends: [to(`a-${n}`)] })),
    );
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const answer of answers.slice(1))
      expect((answer as PromiseRejectedResult).reason).toBeInstanceOf(KeyAlreadyExists);
    expect(await eventsOf()).toEqual(['a-1']);
  });

  it('keep no key that is destroyed while the unit is stored', async () => {
    const destroyer = await openVault();
    for (let round = 0; round < 20; round++) {
      const { sealed, newKey } = seal(`s${round}`);
      const stored = store.commit({ writes: [newKey], appends: [to(`a-${round}`)] }).then(
        () => true,
        (error: unknown) => error,
      );
      await destroyer.sealing.destroyDataKeys('t1', [`s${round}`]);
      const outcome = await stored;
      if (outcome !== true) expect(outcome).toBeInstanceOf(KeyNotFound);
      expect(await openElsewhere(sealed)).toBe(ERASED);
    }
  });

  it('of several processes over the same tenants, keys and streams do not wait for each other', async () => {
    const random = new SeededRandom(14);
    const tenants = ['t1', 't2', 't3'];
    const processes = await Promise.all(
      [1, 2, 3].map(async () => ({ store: await openStore(), vault: await openVault() })),
    );
    for (const tenant of tenants) await vault.sealing.createDataKey(tenant, 'user', 'u1');
    const outcomes: unknown[] = [];
    const stored: { streams: string[]; ids: string[]; keys: { tenant: string; sealed: Sealed; id: string }[] }[] = [];
    const client = async (at: number, n: number) => {
      const { store, vault } = processes[at]!;
      for (let round = 0; round < 15; round++) {
        // In any order: the locks are taken in that of their names. A unit names no key twice: their digits differ.
        const keys = Array.from({ length: random.integer(0, 3) }, (_, place) => {
          const tenant = tenants[random.integer(0, 2)]!;
          const id = `${3 * random.integer(0, 2) + place}-${random.next() < 0.7 ? randomUUID() : round}`;
          return { tenant, id, ...vault.sealing.sealWithNewKey(tenant, 'session', id, 'text') };
        });
        const streams = [
          ...new Set([`a-${random.integer(0, 5)}`, `a-${random.integer(0, 5)}`, `b-${at}+${n}+${round}`]),
        ];
        const ids = streams.map(() => randomUUID());
        try {
          const appends = await Promise.all(
            streams.map(async (stream, index) => {
              const [last] = await store.readStream(stream, { direction: 'backwards', limit: 1 });
              return to(stream, last?.revision ?? -1, anEvent({ id: ids[index]! }));
            }),
          );
          const others = [vault.sealing.createDataKey(tenants[random.integer(0, 2)]!, 'user', randomUUID())];
          if (random.next() < 0.2)
            others.push(vault.sealing.destroyDataKeys(tenants[random.integer(0, 2)]!, [randomUUID(), randomUUID()]));
          await store.commit({ writes: keys.map(({ newKey }) => newKey), appends: appends as [StreamAppend] });
          await Promise.all(others);
          stored.push({ streams, ids, keys });
        } catch (error) {
          outcomes.push(error);
        }
      }
    };
    await Promise.all(processes.flatMap((_, at) => Array.from({ length: 8 }, (_, n) => client(at, n))));
    const unexpected = outcomes.filter(
      (error) => !(error instanceof WrongExpectedRevision || error instanceof KeyAlreadyExists),
    );
    expect(unexpected).toEqual([]);
    const all = (await Promise.all(['a', 'b'].map((it) => store.readAll({ categories: [it], limit: 5000 })))).flatMap(
      ({ events }) => events.map(({ id }) => id),
    );
    expect(all.sort()).toEqual(stored.flatMap(({ ids }) => ids).sort());
    expect(await keyIds()).toEqual(stored.flatMap(({ keys }) => keys.map(({ id }) => id)).sort());
    expect(stored.length).toBeGreaterThan(50);
    expect(outcomes.length).toBeGreaterThan(10);
    const reader = await openVault();
    for (const { keys } of stored)
      for (const { tenant, sealed } of keys)
        expect(await reader.sealing.openSealed(tenant, 'session', sealed)).toBe('text');
  }, 60_000);

  it('need no right that a service did not have', async () => {
    const role = `units_service_${tests}`;
    await admin.query(`CREATE ROLE ${role} LOGIN`);
    await migrate(role);
    const url = server().url(role);
    const [service, keys] = await Promise.all([openStore(url), openVault(url)]);
    const { sealed, newKey } = keys.sealing.sealWithNewKey('t1', 'session', 's1', 'text');
    const value = keys.sealing.storeWithNewKey('t1', 'session', 's2', 'value');
    await service.commit({ writes: [newKey, value.newKey], appends: [to('a-1'), to('a-2')] });
    expect(await openElsewhere(sealed)).toBe('text');
    expect(await (await openVault()).sealing.openStored('t1', 'session', value.stored)).toBe('value');
    expect(await transactions()).toEqual([4]);
    await keys.sealing.destroyDataKeys('t1', ['s2']);
    expect((await admin.query(`SELECT id FROM ${schema}_keys.sealed_values`)).rows).toEqual([]);
  });
});
