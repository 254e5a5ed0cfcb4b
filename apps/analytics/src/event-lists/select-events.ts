import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import { eventTypes, type EventFilters } from '@attestry/contracts';
import type { CursorKey } from '@attestry/read-model';
import { idsOfRequest } from '../operation-stream/operation-event-id.js';
import { chosenActors, type ActorSet, type Kind } from './event-actors.js';
import type { EventTables } from './events.read-model.js';

export type EventRow = EventTables['analytics_events'];
type Events = SelectQueryBuilder<EventTables, 'analytics_events', EventRow>;

export interface Selection {
  tenantId: string;
  filters: EventFilters;
  /** Most rows. */
  limit: number;
  direction: 'asc' | 'desc';
  /** Only rows beyond this one, in the direction. */
  after?: CursorKey;
}

/** Branches in one statement; SQLite takes at most 500. */
const BRANCHES = 32;
/** Actors of one kind: from this letter up to the next. */
const NEXT = { c: 'd', u: 'v' } as const;

/** Times as they are stored: UTC with milliseconds. */
const storedTime = (time: string): string => new Date(time).toISOString();

const TYPES_OF_CATEGORY: ReadonlyMap<string, string[]> = new Map(
  [...Map.groupBy(eventTypes(), ({ category }) => category)].map(([category, types]) => [
    category,
    types.map(({ type }) => type),
  ]),
);

const within = (actors: ActorSet, events: Events): Events =>
  events.where((eb) =>
    eb.or([
      ...[...actors.kinds].map((kind) =>
        kind === '' ? eb('actor', '=', '') : eb.and([eb('actor', '>=', kind), eb('actor', '<', NEXT[kind])]),
      ),
      ...(actors.named.size ? [eb('actor', 'in', [...actors.named])] : []),
    ]),
  );

/** The tenant's actors of a kind, each found by one step in the index: the cost grows with the number of actors, not of their events. */
const actorsOfKind = async (db: Kysely<EventTables>, tenantId: string, kind: Kind): Promise<string[]> => {
  if (kind === '') return [''];
  const table = sql.table('analytics_events');
  const least = (beyond: ReturnType<typeof sql>) =>
    sql`(select min(actor) from ${table} where tenant_id = ${tenantId} and actor ${beyond} and actor < ${NEXT[kind]})`;
  const { rows } = await sql<{ actor: string }>`with recursive found(actor) as (
      select ${least(sql`>= ${kind}`)}
      union all
      select ${least(sql`> found.actor`)} from found where found.actor is not null)
    select actor from found where actor is not null`.execute(db);
  return rows.map(({ actor }) => actor);
};

type Branch = (events: Events) => Events;

/**
 * How the rows are reached, each branch by one index in the order of the result; `undefined`: by time alone. The narrowest filter selects
 * the index; the others are checked row by row.
 */
const branchesOf = async (
  db: Kysely<EventTables>,
  tenantId: string,
  { ids, requestIds, categories, types, ...filters }: EventFilters,
): Promise<Branch[] | undefined> => {
  const actors = chosenActors(filters.clientIds, filters.managementUserIds);
  const ofActors: Branch = (events) => (actors ? within(actors, events) : events);
  const chosenTypes =
    types || categories
      ? [...new Set([...(types ?? []), ...(categories ?? []).flatMap((name) => TYPES_OF_CATEGORY.get(name) ?? [])])]
      : undefined;
  if (ids || requestIds) {
    const called = requestIds?.flatMap((requestId) => idsOfRequest(tenantId, requestId));
    const found = ids && called ? ids.filter((id) => called.includes(id)) : (ids ?? called)!;
    if (!found.length || chosenTypes?.length === 0) return [];
    return [
      (events) => {
        const those = ofActors(events).where('id', 'in', found);
        return chosenTypes ? those.where('type', 'in', chosenTypes) : those;
      },
    ];
  }
  if (chosenTypes) return chosenTypes.map((type) => (events) => ofActors(events).where('type', '=', type));
  if (!actors) return undefined;
  const kinds = await Promise.all([...actors.kinds].map((kind) => actorsOfKind(db, tenantId, kind)));
  const all = new Set([...actors.named, ...kinds.flat()]);
  return [...all].map((actor) => (events) => events.where('actor', '=', actor));
};

/**
 * Rows in the order of time. A filter with many values reads one index range per value, each at most a page long, so that the cost does not
 * grow with the number of events.
 */
export const selectEvents = async (db: Kysely<EventTables>, selection: Selection): Promise<EventRow[]> => {
  const { tenantId, filters, limit, direction, after } = selection;
  const beyond = sql.raw(direction === 'asc' ? '>' : '<');
  const upTo = sql.raw(direction === 'asc' ? '<' : '>');
  const key = sql`(${sql.ref('time')}, ${sql.ref('sort_key')})`;
  const branches = await branchesOf(db, tenantId, filters);
  const walk = (branch: Branch | undefined, last: EventRow | undefined): Events => {
    let events: Events = db.selectFrom('analytics_events').selectAll().where('tenant_id', '=', tenantId);
    if (branch) events = branch(events);
    if (filters.dateFrom) events = events.where('time', '>=', storedTime(filters.dateFrom));
    if (filters.dateTo) events = events.where('time', '<=', storedTime(filters.dateTo));
    if (after) events = events.where(sql<boolean>`${key} ${beyond} (${after.time}, ${after.id})`);
    if (last) events = events.where(sql<boolean>`${key} ${upTo} (${last.time}, ${last.sort_key})`);
    return events.orderBy('time', direction).orderBy('sort_key', direction).limit(limit);
  };
  if (!branches) return walk(undefined, undefined).execute();
  let rows: EventRow[] = [];
  for (let from = 0; from < branches.length; from += BRANCHES) {
    // The page is full: rows beyond it are not needed.
    const last = rows.length === limit ? rows.at(-1) : undefined;
    const [first, ...more] = branches
      .slice(from, from + BRANCHES)
      .map((branch) => db.selectFrom(walk(branch, last).as('walk')).selectAll());
    const union = more.reduce((all, next) => all.unionAll(next), first!);
    const found = await union.orderBy('time', direction).orderBy('sort_key', direction).limit(limit).execute();
    rows = rows.length ? merged(rows, found, direction).slice(0, limit) : found;
  }
  return rows;
};

const merged = (one: EventRow[], other: EventRow[], direction: 'asc' | 'desc'): EventRow[] => {
  const sign = direction === 'asc' ? 1 : -1;
  const text = ({ time, sort_key }: EventRow) => time + sort_key;
  return [...one, ...other].sort((a, b) => (text(a) < text(b) ? -sign : sign));
};
