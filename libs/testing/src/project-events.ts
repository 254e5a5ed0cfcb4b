import assert from 'node:assert/strict';
import { anEvent, type DomainEvent, type RecordedEvent } from '@attestry/event-store';
import type { Change, Changes, DeclaredProjection, EventSource } from '@attestry/read-model';

type Row = Record<string, string | number | null>;

/** Members that a projection does not read may be missing. */
type Some<Data> = Data extends readonly (infer Entry)[]
  ? readonly Entry[]
  : Data extends object
    ? { [Member in keyof Data]?: Some<Data[Member]> }
    : Data;

/** An event, and what of its source matters: by default tenant `t1`, stream id `s1`, its place among the given events as revision. */
export type GivenEvent<Event extends DomainEvent> = Event extends DomainEvent
  ? { type: Event['type']; data: Some<Event['data']>; of?: Partial<EventSource> }
  : never;

export interface ProjectedRows<Tables> {
  /** Exactly these rows are in the tables, in any order; tables that are not named have none. */
  expectRows(expected: { readonly [Name in keyof Tables]?: readonly Tables[Name][] }): void;
  readonly rows: Record<keyof Tables & string, Row[]>;
}

const isText = (value: unknown): value is { text: string } => typeof value === 'object' && value !== null;

/** Changes as they are defined, row by row: what a database is to have in the end. */
export class RowsInMemory {
  readonly tables = new Map<string, Row[]>();

  apply(change: Change): void {
    const { name, key } = change.table;
    const rows = this.tables.get(name) ?? [];
    this.tables.set(name, rows);
    const isFound = (row: Row, values: Readonly<Record<string, unknown>>) =>
      Object.entries(values).every(([column, value]) =>
        isText(value) ? row[column]! < value.text : row[column] === value,
      );
    switch (change.kind) {
      case 'insert':
      case 'put': {
        const { row } = change;
        const at = rows.findIndex((other) => key.every((column) => other[column] === row[column]));
        if (at < 0) rows.push({ ...row });
        else if (change.kind === 'put') rows[at] = { ...row };
        return;
      }
      case 'set':
        for (const row of rows) if (isFound(row, change.where)) Object.assign(row, change.values);
        return;
      case 'remove':
        this.tables.set(
          name,
          rows.filter((row) => !isFound(row, change.where)),
        );
        return;
      case 'with': {
        const found = rows.find((row) => isFound(row, change.where));
        if (found) this.applyAll(change.changes ?? change.then!({ ...found } as never));
      }
    }
  }

  applyAll(changes: Changes): void {
    if ('kind' in changes) this.apply(changes);
    else for (const change of changes) this.applyAll(change);
  }
}

/**
 * Projects events without a database: `const given = projected(deferredIssuances); given(deferred, approved).expectRows({ … })`. Events are
 * read in the form in which the store returns them.
 */
export const projected =
  <Tables, Event extends DomainEvent>(projection: DeclaredProjection<Tables, Event>) =>
  (...events: GivenEvent<Event>[]): ProjectedRows<Tables> => {
    const memory = new RowsInMemory();
    for (const [at, { type, data, of = {} }] of (events as readonly GivenEvent<DomainEvent>[]).entries()) {
      const { tenantId = 't1', id = 's1', revision = at, eventId, requestId, occurredAt } = of;
      const aggregate = projection.aggregates.find(({ types }) => Object.hasOwn(types, type));
      assert.ok(aggregate, `no aggregate of ${projection.name} has the event ${type}`);
      const event = anEvent({
        type,
        data: JSON.parse(JSON.stringify(data)) as object,
        tenantId,
        ...(eventId !== undefined && { id: eventId }),
        ...(occurredAt !== undefined && { occurredAt }),
      });
      const stored: RecordedEvent = {
        ...event,
        schemaVersion: (aggregate.types as Record<string, number>)[type]!,
        metadata: { ...event.metadata, ...(requestId !== undefined && { requestId }) },
        stream: `${aggregate.category}-${tenantId}+${id}`,
        revision,
        position: String(at + 1),
      };
      memory.applyAll(projection.changesOf(stored));
    }
    const sorted = (rows: readonly unknown[]) =>
      rows.map((row) => JSON.stringify(Object.entries(row as Row).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted();
    const rows = Object.fromEntries(projection.tables.map((table) => [table, memory.tables.get(table) ?? []]));
    return {
      rows: rows as Record<keyof Tables & string, Row[]>,
      expectRows(expected) {
        const expectedRows = projection.tables.map((table) => [table, sorted(expected[table] ?? [])]);
        const actual = projection.tables.map((table) => [table, sorted(rows[table]!)]);
        assert.deepEqual(Object.fromEntries(actual), Object.fromEntries(expectedRows));
      },
    };
  };
