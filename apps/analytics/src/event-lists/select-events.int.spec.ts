/** @engines embedded postgres */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventTypes, type EventFilters } from '@attestry/contracts';
import { insertRows } from '@attestry/read-model';
import { openEngines, parseConfig, type Engines } from '@attestry/service-kit';
import { chosenEngines, plansOf, TEST_SETTINGS } from '@attestry/testing';
import { sql, type Kysely } from 'kysely';
import { operationEventId } from '../operation-stream/operation-event-id.js';
import { eventsProjection, type EventTables } from './events.read-model.js';
import { selectEvents, type EventRow } from './select-events.js';

/** A tenant with few events and one with many; the same first ones in both. */
const FEW = { tenantId: '11111111-1111-4111-8111-111111111111', size: 1000 };
const MANY = { tenantId: '22222222-2222-4222-8222-222222222222', size: 60_000 };
const FIRST = Date.parse('2026-01-01T00:00:00.000Z');
/** Both tenants have as many events for every filter, or all there are. */
const PAGE = 21;
const TYPES = eventTypes().filter(({ category }) => category === 'did' || category === 'webhook');

let folder: string;
let engines: Engines;
let db: Kysely<EventTables>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attestry-plans-'));
  engines = await chosenEngines(await openEngines(parseConfig({ ...TEST_SETTINGS, DATA_DIR: folder })));
  ({ db } = await engines.operationReadModels.start(eventsProjection));
  for (const { tenantId, size } of [FEW, MANY]) await seed(tenantId, size);
  if (onPostgres()) await sql`analyze ${sql.table('analytics_events')}`.execute(db);
}, 120_000);
afterAll(async () => {
  await engines?.close();
  await rm(folder, { recursive: true });
});

const onPostgres = () => db.getExecutor().adapter.constructor.name.startsWith('Postgres');
const timeOf = (n: number) => new Date(FIRST + n * 1000).toISOString();

/** The first ten are of a client, a person and a type that are never seen again. */
const rowOf = (tenantId: string, n: number): EventRow => {
  const requestId = `request${Math.floor(n / 2)}`;
  const { type, category } = n < 10 ? { type: 'USER_CREATE_START', category: 'user' } : TYPES[n % TYPES.length]!;
  const frequent = n % 10 === 0 ? '' : n % 10 === 1 ? `upeople${n % 3}` : `cclient${n % 3}`;
  return {
    tenant_id: tenantId,
    time: timeOf(n),
    sort_key: String(n).padStart(10, '0'),
    id: operationEventId(tenantId, requestId, n % 2 ? 'outcome' : 'start'),
    type,
    category,
    request_id: requestId,
    actor: n < 5 ? 'crare' : n < 10 ? 'urare' : frequent,
    metadata: '{}',
    data: null,
  };
};

const seed = async (tenantId: string, size: number) => {
  for (let from = 0; from < size; from += 10_000) {
    const rows = Array.from({ length: Math.min(10_000, size - from) }, (_, n) => rowOf(tenantId, from + n));
    await db.transaction().execute((trx) => insertRows(trx, 'analytics_events', rows));
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
  const found = Array.from({ length: size }, (_, n) => rowOf(tenantId, n)).filter(
    (row) =>
      among(filters.ids, row.id) &&
      among(filters.requestIds, row.request_id) &&
      ((!filters.types && !filters.categories) ||
        (filters.types ?? []).includes(row.type) ||
        (filters.categories ?? []).includes(row.category)) &&
      acts(filters.clientIds, 'c', row.actor) &&
      acts(filters.managementUserIds, 'u', row.actor) &&
      (!filters.dateFrom || row.time >= filters.dateFrom) &&
      (!filters.dateTo || row.time <= filters.dateTo),
  );
  return (direction === 'desc' ? found.reverse() : found).slice(0, limit).map(({ id }) => id);
};

const FILTERS: [string, (tenantId: string) => EventFilters][] = [
  ['nothing', () => ({})],
  ['ids', (tenantId) => ({ ids: [rowOf(tenantId, 3).id, rowOf(tenantId, 700).id, 'no such'] })],
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
  ['ids and a client', (tenantId) => ({ ids: [3, 12, 15].map((n) => rowOf(tenantId, n).id), clientIds: ['*'] })],
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
      const rows = await selectEvents(db, { tenantId, filters, limit: 90, direction, ...(after && { after }) });
      seen.push(...rows.map(({ id }) => id));
      const last = rows.at(-1);
      if (!last || rows.length < 90) break;
      after = { time: last.time, id: last.sort_key };
    }
    expect(seen).toEqual(expected(tenantId, size, filters, size, direction));
  });

  it.each(FILTERS)(
    'of %s are read by an index, with equally many rows read from large and small tables',
    async (_name, filtersOf) => {
      const read: number[] = [];
      for (const { tenantId } of [FEW, MANY]) {
        const filters = filtersOf(tenantId);
        const [first] = await selectEvents(db, { tenantId, filters, limit: 1, direction: 'desc' });
        const after = first && { time: first.time, id: first.sort_key };
        const plans = await plansOf(db, async (watched) => {
          await selectEvents(watched, { tenantId, filters, limit: PAGE, direction: 'desc' });
          await selectEvents(watched, { tenantId, filters, limit: PAGE, direction: 'desc', ...(after && { after }) });
        });
        for (const { steps } of plans) expect(steps.filter(scans)).toEqual([]);
        read.push(plans.reduce((sum, { rowsRead = 0 }) => sum + rowsRead, 0));
      }
      expect(read[1]).toBeLessThanOrEqual(read[0]!);
    },
  );

  it('have no more than three indexes beside the key', async () => {
    // The tables of this folder: others in the same file use separate schemas.
    const indexes = onPostgres()
      ? sql`select 1 from pg_indexes where schemaname = current_schema() and tablename like 'analytics_events%'`
      : sql`select 1 from sqlite_master where type = 'index' and tbl_name like 'analytics_events%'`;
    const { rows } = await indexes.execute(db);
    expect(rows).toHaveLength(4);
  });
});

/** A step that reads the table otherwise than by a place in an index, or sorts what it read. */
const scans = (step: string): boolean =>
  onPostgres() ? /^Seq Scan analytics/.test(step) || step === 'Bitmap Heap Scan' : /^SCAN analytics_events/.test(step);
