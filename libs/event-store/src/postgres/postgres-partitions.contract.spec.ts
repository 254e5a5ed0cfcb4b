import { describeOnPostgres, waitUntil } from '@attestry/testing';
import type pg from 'pg';
import { WrongExpectedRevision } from '../event-store.js';
import { anEvent, Collector, Fixture } from './fixture.js';
import type { Retention } from './partitioned-schema.js';
import { statementsOf } from './statements.js';

describeOnPostgres('event store: partitions on PostgreSQL', (server) => {
  let fixture: Fixture;
  let owner: pg.Client;
  beforeEach(async () => {
    fixture = new Fixture((role) => server().url(role));
    owner = await fixture.connect();
    await fixture.migrate({ retention: { days: 10 } });
  });
  afterEach(async () => {
    await fixture.close();
    expect(fixture.failures).toEqual([]);
  });

  /** Moves the schema's clock, and has done what is due then. */
  const onDay = async (days: number) => {
    await owner.query(
      `CREATE OR REPLACE FUNCTION ${fixture.schema}.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
       $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${days * 86_400_000} $$`,
    );
    return fixture.open();
  };
  const partitions = async () => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${fixture.schema}.events'::regclass ORDER BY 1`,
    );
    return rows.map(({ name }) => name.split('.')[1]);
  };
  const exists = async (name: string) => {
    const { rows } = await owner.query<{ found: string | null }>(
      `SELECT to_regclass('${fixture.schema}.${name}') AS found`,
    );
    return rows[0]!.found !== null;
  };

  it('are created ahead, opened by time and dropped when their events are too old', async () => {
    const store = await fixture.open();
    await store.append('op-a', [anEvent('1'), anEvent('2')], -1);
    expect(await partitions()).toEqual(['events_0', 'events_1']);
    const second = await onDay(2);
    expect(await partitions()).toEqual(['events_0', 'events_1', 'events_2']);
    const { position } = await second.append('op-b', [anEvent('3')], -1);
    expect(position).toBe('10000000000');
    await onDay(11);
    expect(await exists('events_0')).toBe(true);
    const late = await onDay(12.5);
    expect(await exists('events_0')).toBe(false);
    expect((await late.readAll({ limit: 10 })).events.map(({ id }) => id)).toEqual(['3']);
  });

  it('allow streams to continue at the next revision after older events were dropped', async () => {
    const store = await fixture.open();
    await store.append('op-gone', [anEvent('1'), anEvent('2')], -1);
    await store.append('op-cut', [anEvent('3')], -1);
    const second = await onDay(2);
    await second.append('op-cut', [anEvent('4')], 0);
    const late = await onDay(12.5);
    expect(await late.readStream('op-gone')).toEqual([]);
    expect((await late.readStream('op-cut')).map(({ revision }) => revision)).toEqual([1]);
    const refused = late.append('op-gone', [anEvent('5')], -1);
    await expect(refused).rejects.toThrow(WrongExpectedRevision);
    await expect(refused).rejects.toMatchObject({ actual: 1 });
    expect(await late.append('op-gone', [anEvent('5')], 1)).toMatchObject({ revision: 2 });
    expect(await late.append('op-cut', [anEvent('6')], 1)).toMatchObject({ revision: 2 });
    // Remaining events are still found by their ids, in any partition.
    expect(await late.append('op-cut', [anEvent('4'), anEvent('6')], 0)).toMatchObject({ revision: 2 });
    await expect(late.append('op-cut', [anEvent('7')], 0)).rejects.toThrow(WrongExpectedRevision);
  });

  it('are read and subscribed to across the gaps between them', async () => {
    const store = await fixture.open();
    const [first, second] = [
      await store.append('op-a', [anEvent('1')], -1),
      await store.append('op-a', [anEvent('2')], 0),
    ];
    const running = new Collector(store, first.position, ['op']);
    const next = await onDay(2);
    await next.append('op-a', [anEvent('3')], 1);
    await next.append('other-a', [anEvent('4')], -1);
    await waitUntil(() => running.ids.length === 2);
    const late = await onDay(12.5);
    await late.append('op-a', [anEvent('5')], 2);
    await waitUntil(() => running.ids.length === 3);
    expect(running.ids).toEqual(['2', '3', '5']);
    const begun = new Collector(late, second.position, ['op']);
    await waitUntil(() => begun.ids.length === 2);
    expect(begun.ids).toEqual(['3', '5']);
    expect(running.drops).toEqual([]);
  });

  it('do not change the head when all of them are dropped', async () => {
    const store = await fixture.open();
    const { position } = await store.append('op-a', [anEvent('1'), anEvent('2')], -1);
    await onDay(2);
    const empty = await onDay(30);
    expect(await exists('events_0')).toBe(false);
    expect(await empty.head()).toBe(position);
    expect(await empty.readAll({ limit: 10 })).toEqual({ events: [], next: position, atEnd: true });
    expect(await empty.readAll({ after: position, limit: 10 })).toEqual({ events: [], next: position, atEnd: true });
    const collector = new Collector(empty, position);
    const next = await empty.append('op-a', [anEvent('3')], 1);
    expect(empty.comparePositions(next.position, position)).toBeGreaterThan(0);
    await waitUntil(() => collector.ids.length === 1);
    expect(await empty.head()).toBe(next.position);
  });

  it('are maintained by one of several stores at a time, and apply a changed retention', async () => {
    const store = await fixture.open();
    await store.append('op-a', [anEvent('1')], -1);
    await onDay(2);
    await Promise.all([1, 2, 3, 4].map(() => fixture.open()));
    expect(await partitions()).toEqual(['events_0', 'events_1', 'events_2']);
    await fixture.migrate({ retention: { days: 20, mayLengthen: true } });
    await onDay(12.5);
    expect(await exists('events_0')).toBe(true);
    await onDay(22.5);
    expect(await exists('events_0')).toBe(false);
    await expect(fixture.migrate({ retention: { days: 0.5 } })).rejects.toThrow(RangeError);
  });

  it.each<[string, Retention, number]>([
    ['without a number', { days: undefined }, 10],
    ['without a number, allowed to lengthen', { days: undefined, mayLengthen: true }, 10],
    ['with more days', { days: 11 }, 10],
    ['with more days, allowed to lengthen', { days: 11, mayLengthen: true }, 11],
    ['with fewer days', { days: 9 }, 9],
    ['with the same days', { days: 10 }, 10],
  ])('keep their days through a migration %s', async (_, retention, days) => {
    expect(await fixture.migrate({ retention })).toBe(days);
    expect(await fixture.migrate({ retention: { days: undefined } })).toBe(days);
  });

  it('have 400 days where the first migration gets no number', async () => {
    const other = new Fixture((role) => server().url(role));
    expect(await other.migrate({ retention: { days: undefined } })).toBe(400);
    await other.close();
  });

  it('wait for a slow reader, which does not block appends for long', async () => {
    const store = await fixture.open();
    await store.append('op-a', [anEvent('1')], -1);
    await onDay(2);
    const reader = await fixture.connect();
    await reader.query(`BEGIN; SELECT FROM ${fixture.schema}.events`);
    const late = await onDay(12.5);
    expect(await exists('events_0')).toBe(true);
    await late.append('op-a', [anEvent('2')], 0);
    await reader.query('COMMIT');
    await fixture.open();
    expect(await exists('events_0')).toBe(false);
  });

  it('that cannot contain the requested events are not read, and the others through their indexes', async () => {
    const { schema } = fixture;
    const fill = (from: number) =>
      owner.query(
        `INSERT INTO ${schema}.events SELECT ${from} + n, 'op-' || n, CASE WHEN n % 10 = 0 THEN 'op' ELSE 'other' END, 0,
           n::text, 'Happened', 1, '{}', '{}' FROM generate_series(0, 9999) AS n`,
      );
    await onDay(2);
    await fill(1);
    await fill(10_000_000_000);
    await owner.query(`ANALYZE ${schema}.events`);
    const { all, ofCategories, head, backwards } = statementsOf(schema, true);
    const planOf = async (text: string, values: unknown[]) => {
      const { rows } = await owner.query<Record<'QUERY PLAN', string>>(`EXPLAIN ${text}`, values);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    const after = 10_000_000_500;
    for (const [plan, index] of [
      [await planOf(ofCategories.text, [after, 100, 1e6, ['op', 'other']]), 'events_1_category_position_idx'],
      [await planOf(all.text, [after, 100, 1e6]), 'events_1_pkey'],
    ] as const) {
      // The newest position, which is read first, is searched in all of them, starting with the last.
      const page = plan.slice(plan.indexOf('WindowAgg'));
      expect(page).toContain(`Index Scan using ${index}`);
      expect(page).not.toContain('events_0');
    }
    expect(await planOf(head.text, [])).toContain('Index Only Scan Backward using events_1_pkey');
    expect(await planOf(backwards.text, ['op-70', 1e9, 1, null])).not.toMatch(/Seq Scan on events_[01]\b/);
  });
});
