/** @engines embedded postgres */
import { eventTypes, type EventFilters } from '@attestry/contracts';
import { insertRows } from '@attestry/read-model';
import { analyze, EnginesUnderTest, isOnPostgres, plansOf } from '@attestry/testing/services';
import { sql, type Kysely } from 'kysely';
import { idsOfRequest } from '../operation-stream/operation-event-id.js';
import { discardPortion, eventsProjection, type EventTables } from './events.read-model.js';
import type { OperationRow } from './operation-rows.js';
import { selectEvents } from './select-events.js';

const FIRST = Date.parse('2026-01-01T00:00:00.000Z');
/** Both tenants have as many events for every filter, or all there are. */
const PAGE = 21;
const PREFIXES = eventTypes()
  .filter(({ category, type }) => (category === 'did' || category === 'webhook') && type.endsWith('_START'))
  .map(({ category, type }) => ({ category, prefix: type.slice(0, -'_START'.length) }));
/** Operations after which `operationOf` repeats itself. */
const PERIOD = 3 * 4 * 5 * 7 * PREFIXES.length;
/**
 * A tenant with few events and one with many; the same first ones in both. Both end with a whole period: otherwise the newest that match a
 * filter would be closer to the end in one of them, with fewer rows read.
 */
const FEW = { tenantId: '11111111-1111-4111-8111-111111111111', size: 2 * PERIOD };
const MANY = { tenantId: '22222222-2222-4222-8222-222222222222', size: 5 * FEW.size };
/** Nothing is hidden. */
const from = '2000-01-01T00:00:00.000Z';

const service = new EnginesUnderTest();
let db: Kysely<EventTables>;
beforeAll(async () => {
  await service.open();
  ({ db } = await service.engines.operationReadModels.start(eventsProjection));
  for (const { tenantId, size } of [FEW, MANY]) await seed(tenantId, size);
  await analyze(db, 'analytics_operations');
}, 120_000);
afterAll(() => service.remove());

const timeOf = (n: number) => new Date(FIRST + n * 1000).toISOString();

/** Each operation has two entries; the first five operations are of a client, a person, a type and an object that are never seen again. */
const operationOf = (tenantId: string, n: number): OperationRow => {
  const requestId = `request${n}`;
  const [start_id, end_id] = idsOfRequest(tenantId, requestId);
  const frequent = n % 10 === 0 ? '' : n % 10 === 1 ? `upeople${n % 3}` : `cclient${n % 3}`;
  const { prefix, category } = n < 5 ? { prefix: 'USER_CREATE', category: 'user' } : PREFIXES[n % PREFIXES.length]!;
  const object =
    n < 5
      ? ['user', `user${n}`]
      : n % 4 === 0
        ? [null, null]
        : [category, `${category}${Math.floor(n / PREFIXES.length) % 10}`];
  return {
    tenant_id: tenantId,
    start_id,
    end_id,
    request_id: requestId,
    operation: 'some.operation',
    prefix,
    category,
    actor: n < 3 ? 'crare' : n < 5 ? 'urare' : frequent,
    object_type: object[0]!,
    object_id: object[1]!,
    started_at: timeOf(2 * n),
    start_key: `${String(n).padStart(10, '0')}0`,
    start_source: 1,
    start_metadata: '{}',
    start_data: null,
    outcome: n % 7 ? 'SUCCESS' : 'FAIL',
    // The times of two operations overlap.
    ended_at: timeOf(2 * n + 3),
    end_key: `${String(n).padStart(10, '0')}1`,
    end_source: 1,
    end_metadata: '{}',
    end_data: null,
    deadline: null,
    last_at: timeOf(2 * n + 3),
  };
};

const entriesOf = (tenantId: string, size: number) =>
  Array.from({ length: size / 2 }, (_, n) => operationOf(tenantId, n))
    .flatMap(({ started_at, start_key, start_id, ended_at, end_key, end_id, outcome, ...row }) => [
      { ...row, outcome: 'START', id: start_id, time: started_at!, key: start_key! },
      { ...row, outcome: outcome!, id: end_id, time: ended_at!, key: end_key! },
    ])
    .sort((a, b) => (a.time + a.key < b.time + b.key ? -1 : 1));

const seed = async (tenantId: string, size: number) => {
  for (let from = 0; from < size / 2; from += 5000) {
    const rows = Array.from({ length: Math.min(5000, size / 2 - from) }, (_, n) => operationOf(tenantId, from + n));
    await db.transaction().execute((trx) => insertRows(trx, 'analytics_operations', rows));
  }
};

/** The semantics of the filters, implemented a second time in a simple way. */
const expected = (tenantId: string, size: number, filters: EventFilters, limit: number, direction: string) => {
  const among = (values: string[] | undefined, value: string) => !values || values.includes(value);
  const acts = (values: string[] | undefined, kind: string, actor: string) =>
    !values ||
    values.some((value) =>
      value === 'none' ? !actor.startsWith(kind) : value === '*' ? actor.startsWith(kind) : actor === `${kind}${value}`,
    );
  const found = entriesOf(tenantId, size).filter(
    (row) =>
      among(filters.ids, row.id) &&
      among(filters.requestIds, row.request_id) &&
      ((!filters.types && !filters.categories) ||
        (filters.types ?? []).includes(`${row.prefix}_${row.outcome}`) ||
        (filters.categories ?? []).includes(row.category)) &&
      acts(filters.clientIds, 'c', row.actor) &&
      acts(filters.managementUserIds, 'u', row.actor) &&
      (filters.objectType ?? row.object_type) === row.object_type &&
      (filters.objectId ?? row.object_id) === row.object_id &&
      (filters.outcome ?? row.outcome) === row.outcome &&
      (!filters.dateFrom || row.time >= filters.dateFrom) &&
      (!filters.dateTo || row.time <= filters.dateTo),
  );
  return (direction === 'desc' ? found.reverse() : found).slice(0, limit).map(({ id }) => id);
};

const FILTERS: [string, (tenantId: string) => EventFilters][] = [
  ['nothing', () => ({})],
  ['ids', (tenantId) => ({ ids: [operationOf(tenantId, 3).start_id, operationOf(tenantId, 3500).end_id, 'no such'] })],
  ['requestIds', () => ({ requestIds: ['request7', 'request300'] })],
  ['a type that is seldom', () => ({ types: ['USER_CREATE_START'] })],
  ['types', () => ({ types: ['DID_CREATE_START', 'WEBHOOK_CREATE_FAIL'] })],
  ['a category', () => ({ categories: ['did'] })],
  ['a category that is seldom', () => ({ categories: ['user'] })],
  ['a category and a type', () => ({ categories: ['user'], types: ['DID_CREATE_START'] })],
  ['a category nobody knows', () => ({ categories: ['nobody'] })],
  ['a client', () => ({ clientIds: ['client1'] })],
  ['a client that is seldom', () => ({ clientIds: ['rare'] })],
  ['any client', () => ({ clientIds: ['*'] })],
  ['no client', () => ({ clientIds: ['none'] })],
  ['a person', () => ({ managementUserIds: ['people1'] })],
  ['a person that is seldom', () => ({ managementUserIds: ['rare'] })],
  ['any person', () => ({ managementUserIds: ['*'] })],
  ['no person', () => ({ managementUserIds: ['none'] })],
  ['nobody at all', () => ({ clientIds: ['none'], managementUserIds: ['none'] })],
  ['a day', () => ({ dateFrom: timeOf(100), dateTo: timeOf(400) })],
  ['a day and a client', () => ({ dateFrom: timeOf(100), dateTo: timeOf(400), clientIds: ['client2'] })],
  [
    'ids and a client',
    (tenantId) => ({ ids: [1, 12, 15].map((n) => operationOf(tenantId, n).end_id), clientIds: ['*'] }),
  ],
  ['an object', () => ({ objectType: 'did', objectId: 'did7' })],
  ['an object by its id', () => ({ objectId: 'did7' })],
  ['an object that is seldom', () => ({ objectId: 'user3' })],
  ['a type of objects', () => ({ objectType: 'webhook' })],
  ['a type of objects that is seldom', () => ({ objectType: 'user' })],
  ['a type of objects and a client', () => ({ objectType: 'webhook', clientIds: ['client1'] })],
  ['an object and a type', () => ({ objectId: 'did7', types: ['DID_CREATE_START'] })],
  ['refusals', () => ({ outcome: 'FAIL' })],
  ['refusals of a client', () => ({ outcome: 'FAIL', clientIds: ['client1'] })],
  ['successes of a category', () => ({ outcome: 'SUCCESS', categories: ['did'] })],
  ['the outcome of requests', () => ({ outcome: 'SUCCESS', requestIds: ['request7', 'request300'] })],
  ['successes about an object', () => ({ outcome: 'SUCCESS', objectId: 'user3' })],
  ['requests and a type', () => ({ requestIds: ['request2', 'request40'], types: ['USER_CREATE_START'] })],
];

describe('events', () => {
  const cases = FILTERS.flatMap(([name, filters]) =>
    (['desc', 'asc'] as const).map((direction) => [name, direction, filters] as const),
  );
  it.each(cases)('of %s are found in the order %s, page after page', async (_name, direction, filtersOf) => {
    const { tenantId, size } = FEW;
    const filters = filtersOf(tenantId);
    const seen: string[] = [];
    for (let after: { time: string; id: string } | undefined; ;) {
      const rows = await selectEvents(db, { tenantId, filters, from, limit: 900, direction, ...(after && { after }) });
      seen.push(...rows.map(({ id }) => id));
      const last = rows.at(-1);
      if (!last || rows.length < 900) break;
      after = { time: last.time, id: last.sort_key };
    }
    expect(seen).toEqual(expected(tenantId, size, filters, size, direction));
  });

  it.each(FILTERS)(
    'of %s are read by an index, with equally many rows read from large and small tables',
    async (name, filtersOf) => {
      const read: number[] = [];
      for (const { tenantId } of [FEW, MANY]) {
        const filters = filtersOf(tenantId);
        const [first] = await selectEvents(db, { tenantId, filters, from, limit: 1, direction: 'desc' });
        const after = first && { time: first.time, id: first.sort_key };
        const plans = await plansOf(db, async (watched) => {
          await selectEvents(watched, { tenantId, filters, from, limit: PAGE, direction: 'desc' });
          await selectEvents(watched, {
            tenantId,
            filters,
            from,
            limit: PAGE,
            direction: 'desc',
            ...(after && { after }),
          });
        });
        for (const { steps } of plans) expect(steps.filter(scans)).toEqual([]);
        // SQLite does not count rows; the index without a filter's column would read every row of the tenant.
        if (!isOnPostgres(db) && !['nothing', 'a day'].includes(name))
          expect(plans.flatMap(({ steps }) => steps.filter((step) => step.includes('_all_')))).toEqual([]);
        read.push(plans.reduce((sum, { rowsRead = 0 }) => sum + rowsRead, 0));
      }
      expect(read[1]).toBeLessThanOrEqual(read[0]!);
    },
  );

  it('are hidden when they are older than a time, which an index finds', async () => {
    const { tenantId } = FEW;
    const hidden = { tenantId, filters: {}, from: timeOf(990), limit: 100, direction: 'asc' as const };
    const rows = await selectEvents(db, hidden);
    expect(rows.map(({ time }) => time >= timeOf(990))).toEqual(Array(rows.length).fill(true));
    expect(rows[0]!.time).toBe(timeOf(990));
  });

  it('are deleted oldest first, in portions, each found by an index that leads with time', async () => {
    const size = async () => (await db.selectFrom('analytics_operations').select('start_id').execute()).length;
    const before = await size();
    const plans = await plansOf(db, async (watched) => {
      // Four entries end before this in each of the two tenants.
      expect(await discardPortion(watched, timeOf(10), 5)).toBe(5);
      expect(await discardPortion(watched, timeOf(10), 5)).toBe(3);
      expect(await discardPortion(watched, timeOf(10), 5)).toBe(0);
    });
    for (const { steps } of plans) expect(steps.filter(scans)).toEqual([]);
    expect(before - (await size())).toBe(8);
    const [oldest] = await selectEvents(db, { tenantId: FEW.tenantId, filters: {}, from, limit: 1, direction: 'asc' });
    expect(oldest!.request_id).toBe('request4');
  });

  it('have two indexes for each list, and one each for ids, retention and overdue operations', async () => {
    // The tables of this folder: others in the same file use separate schemas.
    const indexes = isOnPostgres(db)
      ? sql`select 1 from pg_indexes where schemaname = current_schema() and tablename like 'analytics_operations%'`
      : sql`select 1 from sqlite_master where type = 'index' and tbl_name like 'analytics_operations%'`;
    const { rows } = await indexes.execute(db);
    expect(rows).toHaveLength(1 + 2 * 5 + 3);
  });
});

/** A step that reads the table otherwise than by a place in an index, or sorts what it read. */
const scans = (step: string): boolean =>
  isOnPostgres(db)
    ? /^Seq Scan analytics/.test(step) || step === 'Bitmap Heap Scan'
    : /^SCAN analytics_operations/.test(step);
