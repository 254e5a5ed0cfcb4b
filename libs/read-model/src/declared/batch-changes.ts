import type { Transaction } from 'kysely';
import { deleteRows, deleteWhere, insertAll, selectRows, updateRows, updateWhere } from './row-statements.js';
import { Below, type AnyRow, type AnyTable, type AnyWhere, type Change, type Changes } from './tables.js';

/** A row in the course of a batch. */
interface Held {
  /** Row before the batch; null: there was none; undefined: unknown, because no change depends on it. */
  stored: AnyRow | null | undefined;
  /** Row after the changes until now; null: there is none. */
  now: AnyRow | null;
  /** `now` is only stored if there was none. */
  isInsert?: boolean;
  /** Only the key was read of a row that was stored. */
  isPartial?: boolean;
  key: AnyRow;
}

const isMatch = (row: AnyRow, where: AnyWhere): boolean =>
  Object.entries(where).every(([column, value]) => {
    const actual = row[column]!;
    return value instanceof Below ? typeof actual === 'string' && actual < value.text : actual === value;
  });

const nameOf = ({ key }: AnyTable, values: AnyWhere | AnyRow): string => key.map((column) => values[column]).join('\0');
const namesRow = ({ key }: AnyTable, where: AnyWhere): boolean =>
  key.every((column) => column in where && !(where[column] instanceof Below));
const hasKeyOnly = ({ key }: AnyTable, where: AnyWhere): boolean => Object.keys(where).length === key.length;

/** Whether more than the existence of a row has to be known. */
const readsRow = (change: Change): boolean =>
  !('row' in change) && (!hasKeyOnly(change.table, change.where) || (change.kind === 'with' && !!change.then));
/** Whether a row has to be read before a change, as others left it. */
const isUnread = (held: Held | undefined, change: Change): boolean =>
  !held || !!held.isInsert || (!!held.isPartial && !!held.now && readsRow(change));

export const flatten = (changes: Changes): Change[] => ('kind' in changes ? [changes] : changes.flatMap(flatten));

/**
 * Applies the changes of a batch of events in their order, so that the rows do not depend on the batches. Rows are kept in memory and
 * written with a few statements for each table. Only those on which a change depends are read before, all that follow in the batch at once.
 * A change of any number of rows writes the rows of its table first.
 */
export class BatchChanges {
  private readonly held = new Map<AnyTable, Map<string, Held>>();
  private readonly trx: Transaction<unknown>;

  constructor(
    trx: Transaction<never>,
    private readonly changes: readonly Change[],
  ) {
    this.trx = trx as unknown as Transaction<unknown>;
  }

  async apply(): Promise<void> {
    for (const [at, change] of this.changes.entries()) {
      const waiting = this.applyOne(change, at);
      if (waiting) await waiting;
    }
    for (const table of this.held.keys()) await this.write(table);
  }

  private applyOne(change: Change, at: number): Promise<void> | undefined {
    const { table } = change;
    const rows = this.rowsOf(table);
    switch (change.kind) {
      case 'insert':
      case 'put': {
        const { row } = change;
        const name = nameOf(table, row);
        const held = rows.get(name);
        const isInsert = change.kind === 'insert';
        if (!held) rows.set(name, { stored: undefined, now: row, isInsert, key: row });
        else if (isInsert) held.now ??= row;
        else Object.assign(held, { now: row, isInsert, isPartial: false });
        return undefined;
      }
      case 'remove':
        if (!namesRow(table, change.where)) return this.changeMany(change);
        if (hasKeyOnly(table, change.where)) {
          const name = nameOf(table, change.where);
          const held = rows.get(name);
          if (held) Object.assign(held, { now: null, isInsert: false });
          else rows.set(name, { stored: undefined, now: null, key: change.where as AnyRow });
          return undefined;
        }
        return this.changeOne(change, at);
      case 'set':
        return namesRow(table, change.where) ? this.changeOne(change, at) : this.changeMany(change);
      case 'with':
        return this.changeOne(change, at);
    }
  }

  private changeOne(change: Exclude<Change, { row: AnyRow }>, at: number): Promise<void> | undefined {
    const { table, where } = change;
    const held = this.rowsOf(table).get(nameOf(table, where));
    if (!held || isUnread(held, change)) return this.load(change, at).then(() => this.changeOne(change, at));
    if (!held.now || !isMatch(held.now, where)) return undefined;
    if (change.kind === 'with') return this.applyNested(flatten(change.changes ?? change.then!(held.now as never)), at);
    held.now = change.kind === 'set' ? { ...held.now, ...change.values } : null;
    return undefined;
  }

  private async applyNested(changes: readonly Change[], at: number): Promise<void> {
    for (const change of changes) await this.applyOne(change, at);
  }

  private async changeMany(change: Extract<Change, { kind: 'set' | 'remove' }>): Promise<void> {
    await this.write(change.table);
    if (change.kind === 'remove') await deleteWhere(this.trx, change.table, change.where);
    else await updateWhere(this.trx, change.table, change.where, change.values);
  }

  /** Reads a row, and those on which the following changes of the table depend. */
  private async load(first: Exclude<Change, { row: AnyRow }>, at: number): Promise<void> {
    const { table } = first;
    const rows = this.rowsOf(table);
    const keys = new Map([[nameOf(table, first.where), first.where as AnyRow]]);
    let isPartial = !readsRow(first);
    for (let next = at; next < this.changes.length; next++) {
      const change = this.changes[next]!;
      if (change.table !== table || 'row' in change) continue;
      if (!namesRow(table, change.where)) break;
      const name = nameOf(table, change.where);
      if ((change.kind === 'remove' && !readsRow(change)) || !isUnread(rows.get(name), change)) continue;
      keys.set(name, change.where as AnyRow);
      isPartial &&= !readsRow(change);
    }
    const columns = isPartial ? table.key : table.columns;
    const stored = new Map(
      (await selectRows(this.trx, table, columns, [...keys.values()])).map((row) => [nameOf(table, row), row]),
    );
    for (const [name, key] of keys) {
      const [held, row] = [rows.get(name), stored.get(name) ?? null];
      // Columns that were set stay set where only the key of the row was read.
      const now = held?.isInsert ? (row ?? held.now) : row && { ...row, ...held?.now };
      rows.set(name, { stored: row, now, isPartial: isPartial && row !== null, key });
    }
  }

  private async write(table: AnyTable): Promise<void> {
    const removed: AnyRow[] = [];
    const inserted: AnyRow[] = [];
    const put: AnyRow[] = [];
    /** By the names of the columns that changed. */
    const updated = new Map<string, { columns: string[]; rows: AnyRow[] }>();
    for (const { stored, now, isInsert, key } of this.rowsOf(table).values()) {
      if (!now) {
        if (stored !== null) removed.push(key);
      } else if (isInsert || stored === null) inserted.push(now);
      else if (!stored) put.push(now);
      else {
        const columns = table.columns.filter((column) => now[column] !== stored[column]);
        const group = updated.get(columns.join());
        if (group) group.rows.push(now);
        else if (columns.length) updated.set(columns.join(), { columns, rows: [now] });
      }
    }
    this.rowsOf(table).clear();
    await deleteRows(this.trx, table, removed);
    await insertAll(this.trx, table, inserted, false);
    await insertAll(this.trx, table, put, true);
    for (const { columns, rows } of updated.values()) await updateRows(this.trx, table, columns, rows);
  }

  private rowsOf(table: AnyTable): Map<string, Held> {
    const known = this.held.get(table);
    if (known) return known;
    const rows = new Map<string, Held>();
    this.held.set(table, rows);
    return rows;
  }
}
