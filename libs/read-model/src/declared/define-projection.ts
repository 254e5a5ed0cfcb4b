import {
  readEvent,
  UnknownEventType,
  type Aggregate,
  type DomainEvent,
  type RecordedEvent,
} from '@attestry/event-store';
import type { Kysely } from 'kysely';
import { createTable } from '../create-table.js';
import type { SelectiveProjection } from '../read-model.js';
import { BatchChanges, flatten } from './batch-changes.js';
import { purgedTenant, type PurgedTenantEvent } from './purged-tenant.js';
import type { Change, Changes, DeclaredTable, DeclaredTables } from './tables.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a projection reads aggregates of every kind of state and event
type AnyAggregate = Aggregate<any, any>;
type EventOf<Aggregates extends readonly AnyAggregate[]> = {
  [At in keyof Aggregates]: Aggregates[At] extends Aggregate<infer _State, infer Event> ? Event : never;
}[number];

/** Where an event was stored, and by which request. */
export interface EventSource {
  tenantId: string;
  /** Part behind the category, and the tenant, in the name of its stream. */
  id: string;
  revision: number;
  eventId: string;
  /** RFC 3339, UTC, milliseconds. */
  occurredAt: string;
  requestId: string;
}

type Handler<Event> = (event: Event, source: EventSource) => Changes;

export interface ProjectionDeclaration<Tables, Aggregates extends readonly AnyAggregate[]> {
  /** `<service>.<name>`; permanent: names the checkpoint and the lease. */
  name: `${string}.${string}`;
  /** Raised with every change of the tables or of what the events make of them: a rebuild follows. */
  version: number;
  aggregates: Aggregates;
  tables: DeclaredTables<Tables>;
  /**
   * The rows stay when their tenant is purged. Otherwise all tables have a column `tenant_id`, and the event by which the service records a
   * purge removes the rows of the tenant.
   */
  outlivesTenant?: true;
  /** Every event of the aggregates. It is pure: the rows follow from the events alone. */
  on: { readonly [Type in EventOf<Aggregates>['type']]: Handler<Extract<EventOf<Aggregates>, { type: Type }>> };
}

export interface DeclaredProjection<Tables, Event extends DomainEvent> extends SelectiveProjection<Tables> {
  readonly aggregates: readonly AnyAggregate[];
  readonly declared: DeclaredTables<Tables>;
  /** Changes of an event, in order. The types allow only one of these events. */
  changesOf(stored: RecordedEvent<string, unknown>): Change[];
  /** For the types of tests. */
  readonly event?: Event;
}

/** For events that change no row: they are not even parsed. */
export const nothing = (): Changes => [];

/**
 * A projection as a declaration: which events change which rows. Switching by category, upcasting, batches and their order, the purge of
 * tenants and the tables are made here (ADR 0123). Any split of the events into batches gives the same rows.
 */
export const defineProjection = <Tables, const Aggregates extends readonly AnyAggregate[]>({
  name,
  version,
  aggregates,
  tables,
  outlivesTenant,
  on,
}: ProjectionDeclaration<Tables, Aggregates>): DeclaredProjection<Tables, EventOf<Aggregates> | PurgedTenantEvent> => {
  const declared: DeclaredTable<unknown>[] = Object.values(tables);
  const purged = purgedTenant(name.slice(0, name.indexOf('.')));
  const purges: Handler<PurgedTenantEvent> = ({ data: { tenantId } }) =>
    declared.map((table) => (table as DeclaredTable<{ tenant_id: string }>).remove({ tenant_id: tenantId }));
  for (const table of declared)
    if (!outlivesTenant && !table.columns.includes('tenant_id'))
      throw new Error(`${name}: ${table.name} has no column tenant_id, for the purge of a tenant`);
  const followed: readonly AnyAggregate[] = outlivesTenant ? aggregates : [...aggregates, purged];
  const byCategory = new Map(followed.map((aggregate) => [aggregate.category, aggregate]));
  const handlers = new Map(Object.entries({ ...on, ...(!outlivesTenant && { TenantDataPurged: purges }) }));

  const changesOf = (stored: RecordedEvent): Change[] => {
    const { stream, type, schemaVersion, metadata, revision } = stored;
    const dash = stream.indexOf('-');
    const aggregate = byCategory.get(stream.slice(0, dash));
    const handler = handlers.get(type);
    const known = (aggregate?.types as Record<string, number> | undefined)?.[type];
    if (!aggregate || !handler || known === undefined || schemaVersion > known) throw new UnknownEventType(stored);
    if (handler === nothing) return [];
    const { tenantId, occurredAt, requestId } = metadata;
    const prefix = `${tenantId}+`;
    const rest = stream.slice(dash + 1);
    const id = rest.startsWith(prefix) ? rest.slice(prefix.length) : rest;
    const source = { tenantId, id, revision, eventId: stored.id, occurredAt, requestId };
    return flatten((handler as Handler<DomainEvent>)(readEvent(aggregate, stored), source));
  };

  return {
    name,
    version,
    categories: [...byCategory.keys()],
    types: followed.flatMap(({ types }) => Object.keys(types)),
    tables: declared.map((table) => table.name as keyof Tables & string),
    aggregates: followed,
    declared: tables,
    async create(db) {
      for (const table of declared)
        await createTable(db as unknown as Kysely<never>, table.name as never, table.declared);
    },
    async project(trx, events) {
      await new BatchChanges(trx as never, events.flatMap(changesOf)).apply();
    },
    changesOf,
  };
};
