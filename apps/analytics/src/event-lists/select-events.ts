import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import { ACCESS_CATEGORY, eventTypes, type EventFilters, type Outcome } from '@attestry/contracts';
import { storedBytes, type CursorKey } from '@attestry/read-model';
import { idsOfRequest } from '../operation-stream/operation-event-id.js';
import { chosenActors, type ActorSet, type Kind } from './event-actors.js';
import { ONLY_IN, type EventTables } from './events.read-model.js';
import { accessTrailOf, type OperationRow } from './operation-rows.js';

/** One entry of the list: START or outcome of an operation. */
export interface EventRow extends Pick<
  OperationRow,
  'tenant_id' | 'prefix' | 'category' | 'request_id' | 'actor' | 'object_type' | 'object_id'
> {
  id: string;
  outcome: Outcome;
  time: string;
  sort_key: string;
  /** Stored bytes, with those of metadata and data. */
  bytes: number;
}

/** Contents of an entry beside its row, read only for those of the page (ADR 0098). */
export interface EventContents {
  metadata: string | null;
  /** Sealed; null at logging level 1. */
  data: string | null;
}

type Operations = SelectQueryBuilder<EventTables, 'analytics_operations', unknown>;

export interface Selection {
  tenantId: string;
  filters: EventFilters;
  /** Older entries are hidden: their retention is over. RFC 3339, UTC, milliseconds. */
  from: string;
  /** Most rows. */
  limit: number;
  direction: 'asc' | 'desc';
  /** Only rows beyond this one, in the direction. */
  after?: CursorKey;
}

/** The columns of an entry in the row of its operation. */
const SLOTS = {
  start: { id: 'start_id', time: 'started_at', key: 'start_key', metadata: 'start_metadata', data: 'start_data' },
  outcome: { id: 'end_id', time: 'ended_at', key: 'end_key', metadata: 'end_metadata', data: 'end_data' },
} as const;
type Slot = keyof typeof SLOTS;
const BOTH = Object.keys(SLOTS) as Slot[];

/** Branches in one statement; SQLite takes at most 500. */
const BRANCHES = 32;
/** Actors of one kind: from this letter up to the next. */
const NEXT = { c: 'd', u: 'v' } as const;

/** Times as they are stored: UTC with milliseconds. */
const storedTime = (time: string): string => new Date(time).toISOString();

const ALL_TYPES = eventTypes();
const TYPES_OF_CATEGORY: ReadonlyMap<string, string[]> = new Map(
  [...Map.groupBy(ALL_TYPES, ({ category }) => category)].map(([category, types]) => [
    category,
    types.map(({ type }) => type),
  ]),
);

const within = (actors: ActorSet, operations: Operations): Operations =>
  operations.where((eb) =>
    eb.or([
      ...[...actors.kinds].map((kind) =>
        kind === '' ? eb('actor', '=', '') : eb.and([eb('actor', '>=', kind), eb('actor', '<', NEXT[kind])]),
      ),
      ...(actors.named.size ? [eb('actor', 'in', [...actors.named])] : []),
    ]),
  );

/** Distinct values of a column, each found by one step in an index: the cost grows with their number, not with that of the rows. */
const distinct = async (
  db: Kysely<EventTables>,
  tenantId: string,
  column: 'actor' | 'object_type',
  from: string,
  before?: string,
): Promise<string[]> => {
  const [table, name] = [sql.table('analytics_operations'), sql.ref(column)];
  const upTo = before === undefined ? sql`` : sql`and ${name} < ${before}`;
  const least = (beyond: ReturnType<typeof sql>) =>
    sql`(select min(${name}) from ${table} where tenant_id = ${tenantId} and ${name} ${beyond} ${upTo})`;
  const { rows } = await sql<{ value: string }>`with recursive found(value) as (
      select ${least(sql`>= ${from}`)}
      union all
      select ${least(sql`> found.value`)} from found where found.value is not null)
    select value from found where value is not null`.execute(db);
  return rows.map(({ value }) => value);
};

const actorsOfKind = async (db: Kysely<EventTables>, tenantId: string, kind: Kind): Promise<string[]> =>
  kind === '' ? [''] : distinct(db, tenantId, 'actor', kind, NEXT[kind]);

interface Branch {
  slot: Slot;
  narrow: (operations: Operations) => Operations;
}

const onBoth = (narrow: Branch['narrow']): Branch[] => BOTH.map((slot) => ({ slot, narrow }));

/** `DID_CREATE_SUCCESS`: an outcome of operations with this prefix. */
const branchOfType = (type: string): Branch[] => {
  const [, prefix, suffix] = /^(.*)_(START|SUCCESS|FAIL)$/.exec(type) ?? [];
  if (prefix === undefined || suffix === undefined) return [];
  return [
    suffix === 'START'
      ? { slot: 'start', narrow: (operations) => operations.where('prefix', '=', prefix) }
      : {
          slot: 'outcome',
          narrow: (operations) => operations.where('prefix', '=', prefix).where('outcome', '=', suffix as 'FAIL'),
        },
  ];
};

/**
 * How the entries are reached, each branch by one index in the order of the result. The narrowest filter selects the index; the others are
 * checked row by row.
 */
const branchesOf = async (
  db: Kysely<EventTables>,
  tenantId: string,
  { ids, requestIds, categories, types, objectType, objectId, outcome, ...filters }: EventFilters,
): Promise<Branch[]> => {
  const actors = chosenActors(filters.clientIds, filters.managementUserIds);
  const slots = outcome ? (['outcome'] as const) : BOTH;
  const ofTypes =
    types || categories
      ? [...new Set([...(types ?? []), ...(categories ?? []).flatMap((name) => TYPES_OF_CATEGORY.get(name) ?? [])])]
      : undefined;
  const typed = ofTypes?.flatMap(branchOfType);
  const ofActors: Branch['narrow'] = (operations) => (actors ? within(actors, operations) : operations);
  const ofObject: Branch['narrow'] = (operations) => {
    let those = operations;
    if (objectType !== undefined) those = those.where('object_type', '=', objectType);
    if (objectId !== undefined) those = those.where('object_id', '=', objectId);
    return those;
  };
  /** Branches by another filter than the type: of each slot those types that have it. */
  const withTypes = (branches: Branch[]): Branch[] =>
    typed
      ? branches.flatMap(({ slot, narrow }) => {
          const own = ofTypes!.filter((type) => branchOfType(type).some((branch) => branch.slot === slot));
          return own.length ? [{ slot, narrow: (operations) => typesWithin(own, narrow(operations)) }] : [];
        })
      : branches;
  const narrowed = (branches: Branch[], ...more: Branch['narrow'][]): Branch[] =>
    branches
      .filter(({ slot }) => slots.includes(slot as 'outcome'))
      .map(({ slot, narrow }) => ({
        slot,
        narrow: (operations) => {
          const all = [narrow, ...more].reduce((those, one) => one(those), operations);
          return outcome ? all.where('outcome', '=', outcome) : all;
        },
      }));
  if (ids || requestIds) {
    const called = requestIds?.flatMap((requestId) => idsOfRequest(tenantId, requestId));
    const found = ids && called ? ids.filter((id) => called.includes(id)) : (ids ?? called)!;
    if (!found.length) return [];
    const byId = BOTH.map((slot): Branch => ({ slot, narrow: (those) => those.where(SLOTS[slot].id, 'in', found) }));
    return narrowed(withTypes(byId), ofActors, ofObject);
  }
  if (objectId !== undefined) {
    const kinds = objectType === undefined ? await distinct(db, tenantId, 'object_type', '') : [objectType];
    const byObject = kinds.flatMap((kind) =>
      onBoth((those) => those.where('object_type', '=', kind).where('object_id', '=', objectId)),
    );
    return narrowed(withTypes(byObject), ofActors);
  }
  if (typed) return narrowed(typed, ofActors, ofObject);
  if (actors) {
    const kinds = await Promise.all([...actors.kinds].map((kind) => actorsOfKind(db, tenantId, kind)));
    const all = new Set([...actors.named, ...kinds.flat()]);
    return narrowed(
      [...all].flatMap((actor) => onBoth((those) => those.where('actor', '=', actor))),
      ofObject,
    );
  }
  if (objectType !== undefined)
    return narrowed(onBoth((those) => those.where('object_type', '=', objectType).where(ONLY_IN.object_type)));
  if (outcome) return ALL_TYPES.filter(({ type }) => type.endsWith(outcome)).flatMap(({ type }) => branchOfType(type));
  return onBoth((those) => those.where(ONLY_IN.all));
};

const typesWithin = (types: readonly string[], operations: Operations): Operations =>
  operations.where((eb) =>
    eb.or(
      types.map((type) => {
        const [prefix, suffix] = [type.slice(0, type.lastIndexOf('_')), type.slice(type.lastIndexOf('_') + 1)];
        const named = eb('prefix', '=', prefix);
        return suffix === 'START' ? named : eb.and([named, eb('outcome', '=', suffix as 'FAIL')]);
      }),
    ),
  );

/**
 * Entries in the order of time. A filter with many values reads one index range per value, each at most a page long, so that the cost does
 * not grow with the number of events.
 */
export const selectEvents = async (db: Kysely<EventTables>, selection: Selection): Promise<EventRow[]> => {
  const { tenantId, filters, limit, direction, after } = selection;
  const shownFrom = filters.dateFrom ? storedTime(filters.dateFrom) : '';
  const from = shownFrom > selection.from ? shownFrom : selection.from;
  const beyond = sql.raw(direction === 'asc' ? '>' : '<');
  const upTo = sql.raw(direction === 'asc' ? '<' : '>');
  const walk = ({ slot, narrow }: Branch, last: EventRow | undefined) => {
    const { id, time, key, metadata, data } = SLOTS[slot];
    const place = sql`(${sql.ref(time)}, ${sql.ref(key)})`;
    let operations = narrow(
      db.selectFrom('analytics_operations').where('tenant_id', '=', tenantId) as unknown as Operations,
    ).where(time, '>=', from);
    if (filters.dateTo) operations = operations.where(time, '<=', storedTime(filters.dateTo));
    if (after) operations = operations.where(sql<boolean>`${place} ${beyond} (${after.time}, ${after.id})`);
    if (last) operations = operations.where(sql<boolean>`${place} ${upTo} (${last.time}, ${last.sort_key})`);
    return operations
      .select(['tenant_id', 'prefix', 'category', 'request_id', 'actor', 'object_type', 'object_id'])
      .select(({ ref }) => [
        ref(id).as('id'),
        ref(time).as('time'),
        ref(key).as('sort_key'),
        storedBytes([metadata, data, 'object_id']).as('bytes'),
        slot === 'start' ? sql<Outcome>`'START'`.as('outcome') : ref('outcome').as('outcome'),
      ])
      .orderBy(time, direction)
      .orderBy(key, direction)
      .limit(limit);
  };
  const branches = await branchesOf(db, tenantId, filters);
  let rows: EventRow[] = [];
  for (let at = 0; at < branches.length; at += BRANCHES) {
    // The page is full: rows beyond it are not needed.
    const last = rows.length === limit ? rows.at(-1) : undefined;
    const [first, ...more] = branches
      .slice(at, at + BRANCHES)
      .map((branch) => db.selectFrom(walk(branch, last).as('walk')).selectAll());
    const union = more.reduce((all, next) => all.unionAll(next), first!);
    const found = (await union
      .orderBy('time', direction)
      .orderBy('sort_key', direction)
      .limit(limit)
      .execute()) as EventRow[];
    rows = rows.length ? merged(rows, found, direction).slice(0, limit) : found;
  }
  return rows;
};

/** Entries of the tenant's trail; where the category of access is named, also or only those of its records of access. */
export const selectListed = async (db: Kysely<EventTables>, selection: Selection): Promise<EventRow[]> => {
  const { tenantId, filters, limit, direction } = selection;
  const { categories, types, ...rest } = filters;
  if (!categories?.includes(ACCESS_CATEGORY)) return selectEvents(db, selection);
  const others = categories.filter((name) => name !== ACCESS_CATEGORY);
  const named = { ...(others.length && { categories: others }), ...(types && { types }) };
  const [own, access] = await Promise.all([
    Object.keys(named).length ? selectEvents(db, { ...selection, filters: { ...rest, ...named } }) : [],
    selectEvents(db, { ...selection, tenantId: accessTrailOf(tenantId), filters: rest }),
  ]);
  return merged(own, access, direction).slice(0, limit);
};

const merged = (one: EventRow[], other: EventRow[], direction: 'asc' | 'desc'): EventRow[] => {
  const sign = direction === 'asc' ? 1 : -1;
  const text = ({ time, sort_key }: EventRow) => time + sort_key;
  return [...one, ...other].sort((a, b) => (text(a) < text(b) ? -sign : sign));
};

/** Contents of entries by id; those whose operation was discarded meanwhile are absent. */
export const loadContents = async (
  db: Kysely<EventTables>,
  rows: readonly EventRow[],
): Promise<ReadonlyMap<string, EventContents>> => {
  const trails = [...new Set(rows.map(({ tenant_id }) => tenant_id))];
  const parts = trails.flatMap((tenantId) => BOTH.map((slot) => ({ tenantId, slot })));
  const found = await Promise.all(
    parts.map(async ({ tenantId, slot }) => {
      const { id, metadata, data } = SLOTS[slot];
      const own = rows.filter(({ tenant_id }) => tenant_id === tenantId);
      const ids = own.filter(({ outcome }) => (outcome === 'START') === (slot === 'start')).map((row) => row.id);
      if (ids.length === 0) return [];
      return db
        .selectFrom('analytics_operations')
        .where('tenant_id', '=', tenantId)
        .where(id, 'in', ids)
        .select(({ ref }) => [ref(id).as('id'), ref(metadata).as('metadata'), ref(data).as('data')])
        .execute();
    }),
  );
  return new Map(found.flat().map(({ id, ...contents }) => [id, contents]));
};
