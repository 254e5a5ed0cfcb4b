import { describeOnPostgres, waitUntil } from '@attestry/testing';
import type pg from 'pg';
import { CHAIN_START, chainEvent } from '../chain.js';
import { EventStoreUnavailable, type Position } from '../event-store.js';
import { anEvent, Collector, Fixture } from './fixture.js';
import type { PostgresEventStore } from './postgres-event-store.js';

describeOnPostgres('event store: order on PostgreSQL', (server) => {
  let fixture: Fixture;
  let slow: pg.Client;
  let watcher: pg.Client;
  beforeEach(async () => {
    fixture = new Fixture((role) => server().url(role));
    await fixture.migrate();
    slow = await fixture.connect();
    watcher = await fixture.connect();
  });
  afterEach(() => fixture.close());

  const pidOf = async (client: pg.Client) =>
    (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;
  /** This number of appends wait for the one that has the lock. */
  const waiting = (count: number) =>
    waitUntil(async () => {
      const { rows } = await watcher.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`);
      return rows.length === count;
    });
  const idsOf = async (store: PostgresEventStore) => (await store.readAll({ limit: 1000 })).events.map(({ id }) => id);

  it('shows no later position before an earlier one that is not yet committed', async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    const collector = new Collector(two);
    await slow.query('BEGIN');
    const position = await fixture.appendOn(slow, 'a-slow', 'slow', -1);
    let answers = 0;
    const later = [one, two].map((store, n) =>
      store.append(`a-${n}`, [anEvent(`later${n}`)], -1).finally(() => answers++),
    );
    await waiting(2);
    expect([answers, await idsOf(one), await one.head(), collector.ids]).toEqual([0, [], undefined, []]);
    await slow.query('COMMIT');
    for (const { position: after } of await Promise.all(later))
      expect(one.comparePositions(position, after)).toBeLessThan(0);
    await waitUntil(() => collector.ids.length === 3);
    expect(collector.ids[0]).toBe('slow');
    expect(collector.ids).toEqual(await idsOf(one));
  });

  it('is not delayed by long transactions elsewhere', async () => {
    const store = await fixture.open();
    const collector = new Collector(store);
    await slow.query('CREATE TABLE IF NOT EXISTS elsewhere (n integer); BEGIN; INSERT INTO elsewhere VALUES (1)');
    const reader = await fixture.connect();
    await reader.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM ${fixture.schema}.events`);
    for (const n of [0, 1, 2]) {
      await store.append('a-1', [anEvent(String(n))], n - 1);
      await waitUntil(() => collector.ids.length === n + 1, { timeoutMs: 5000 });
    }
    expect(await idsOf(store)).toEqual(['0', '1', '2']);
    // A reader of events older than every open transaction would return none of them.
    const settled = `SELECT FROM ${fixture.schema}.events
      WHERE xmin::text::bigint < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;
    expect((await watcher.query(settled)).rows).toHaveLength(0);
    await slow.query('ROLLBACK');
    await waitUntil(async () => (await watcher.query(settled)).rows.length === 3);
  });

  it('continues after an append whose process ended, and leaves at most a gap', async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    const collector = new Collector(two);
    const first = await one.append('a-1', [anEvent('acknowledged')], -1);
    await slow.query('BEGIN');
    const lost = await fixture.appendOn(slow, 'a-2', 'lost', -1);
    const pid = await pidOf(slow);
    const later = one.append('a-3', [anEvent('later')], -1);
    await waiting(1);
    await watcher.query('SELECT pg_terminate_backend($1)', [pid]);
    const { position } = await later;
    expect([first.position, lost, position].map(Number)).toEqual([1, 2, 3]);
    expect(await two.append('a-2', [anEvent('again')], -1)).toMatchObject({ revision: 0 });
    await waitUntil(() => collector.ids.length === 3);
    expect(collector.ids).toEqual(['acknowledged', 'later', 'again']);
    expect(await idsOf(one)).toEqual(collector.ids);
  });

  it('is kept while several processes append in groups and some transactions are slow', async () => {
    const stores = await Promise.all([1, 2].map(() => fixture.open()));
    const reader = await fixture.open();
    const followers = [...stores, reader].map((store) => new Collector(store));
    const seen: string[] = [];
    let writing = true;
    const reading = (async () => {
      let after: Position | undefined;
      for (;;) {
        const last = !writing;
        const page = await reader.readAll({ after, limit: 20 });
        seen.push(...page.events.map(({ id }) => id));
        after = page.next;
        if (last && page.atEnd) return;
      }
    })();
    const write = async (store: PostgresEventStore, stream: string) => {
      for (let n = 0; n < 10; n++) await store.append(stream, [anEvent(`${stream} ${n}`)], n - 1);
    };
    const dawdle = async () => {
      for (let n = 0; n < 10; n++) {
        await slow.query('BEGIN');
        await fixture.appendOn(slow, 'a-slow', `slow ${n}`, n - 1);
        await slow.query('SELECT pg_sleep(0.03)');
        await slow.query('COMMIT');
      }
    };
    await Promise.all([
      ...stores.flatMap((store, s) => Array.from({ length: 16 }, (_, n) => write(store, `a-${s}+${n}`))),
      dawdle(),
    ]);
    writing = false;
    await reading;
    const all = await idsOf(reader);
    expect(all).toHaveLength(330);
    expect(seen).toEqual(all);
    for (const follower of followers) {
      await waitUntil(() => follower.ids.length === 330);
      expect(follower.ids).toEqual(all);
    }
  });

  it('is unavailable, and stores nothing, when the lock is not obtained in time', async () => {
    const store = await fixture.open({ timeoutMs: 1000 });
    await slow.query('BEGIN');
    await fixture.appendOn(slow, 'a-slow', 'slow', -1);
    const begun = performance.now();
    const refused = await Promise.allSettled([
      store.append('a-1', [anEvent('1')], -1),
      store.append('a-2', [anEvent('2')], -1),
    ]);
    expect(performance.now() - begun).toBeLessThan(8000);
    for (const { status, reason } of refused as PromiseRejectedResult[])
      expect([status, reason]).toEqual(['rejected', expect.any(EventStoreUnavailable)]);
    await slow.query('ROLLBACK');
    expect(await idsOf(store)).toEqual([]);
    await waitUntil(() => store.append('a-1', [anEvent('1')], -1));
    expect(await idsOf(store)).toEqual(['1']);
  });

  it('stores the valid appends of a group and refuses each invalid one', async () => {
    const store = await fixture.open();
    const results = await Promise.allSettled([
      store.append('a-1', [anEvent('1')], -1),
      store.append('a-2', [anEvent('with \0')], -1),
      store.append(`a-${'long'.repeat(100_000)}`, [anEvent('3')], -1),
      store.append('a-4', [anEvent('4')], -1),
    ]);
    // The first was being stored when the others arrived; those share a group.
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(await idsOf(store)).toEqual(['1', '4']);
  });

  it('ends a page early when it would be too large, without losing events', async () => {
    const store = await fixture.open();
    const large = (id: string) => chainEvent(CHAIN_START, { ...anEvent(id), data: 'x'.repeat(1_000_000) });
    const ids = Array.from({ length: 20 }, (_, n) => `large ${n}`);
    await Promise.all(ids.map((id) => store.append(`a-${id}`, [large(id)], -1)));
    const page = await store.readAll({ limit: 100 });
    expect([page.events.length, page.atEnd]).toEqual([9, false]);
    const collector = new Collector(store);
    await waitUntil(() => collector.ids.length === 20);
    expect([...collector.ids].sort()).toEqual([...ids].sort());
  });
});
