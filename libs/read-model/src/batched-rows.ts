import { sql, type Insertable, type Transaction } from 'kysely';
import { insertRows } from './insert-rows.js';

type Key = readonly [string, ...string[]];

interface Change<Row> {
  key: Key;
  /** Absent: deleted. */
  row?: Row;
  /** A row that may exist has to be deleted first. */
  replaces: boolean;
}

const slot = (parts: readonly string[]): string => parts.join('\0');

/**
 * The changes of one table by a batch of events: buffered, the last for each key, and written in a few statements however many the events
 * were. Keys are text columns, best with the tenant first and the most selective last. Callers that read the table, or change it by another
 * statement, {@link write} first.
 */
export class BatchedRows<Tables, Table extends keyof Tables & string> {
  private readonly changes = new Map<string, Change<Insertable<Tables[Table]>>>();

  constructor(
    private readonly trx: Transaction<Tables>,
    private readonly table: Table,
    private readonly columns: readonly (keyof Tables[Table] & string)[],
  ) {}

  /** Skipped when the key exists. */
  insert(row: Insertable<Tables[Table]>): void {
    const key = this.keyOf(row);
    const known = this.changes.get(slot(key));
    if (!known?.row) this.changes.set(slot(key), { key, row, replaces: known !== undefined });
  }

  /** Replaces an existing row. */
  put(row: Insertable<Tables[Table]>): void {
    const key = this.keyOf(row);
    this.changes.set(slot(key), { key, row, replaces: true });
  }

  remove(...key: Key): void {
    this.changes.set(slot(key), { key, replaces: true });
  }

  /** A row that is going to be written, to change it in the buffer. */
  gathered(...key: Key): Insertable<Tables[Table]> | undefined {
    return this.changes.get(slot(key))?.row;
  }

  async write(): Promise<void> {
    const changes = [...this.changes.values()];
    this.changes.clear();
    const replaced = changes.filter(({ replaces }) => replaces).map(({ key }) => key);
    for (const group of Map.groupBy(replaced, (key) => slot(key.slice(0, -1))).values()) await this.delete(group);
    const rows = changes.flatMap(({ row }) => (row ? [row] : []));
    await insertRows(this.trx, this.table, rows);
  }

  /** Keys that differ in their last column only. */
  private async delete(keys: readonly Key[]): Promise<void> {
    const shared = keys[0]!.slice(0, -1).map((value, at) => sql`${sql.ref(this.columns[at]!)} = ${value}`);
    const last = sql`${sql.ref(this.columns.at(-1)!)} in (${sql.join(keys.map((key) => key.at(-1)))})`;
    await sql`delete from ${sql.table(this.table)} where ${sql.join([...shared, last], sql` and `)}`.execute(this.trx);
  }

  private keyOf(row: Insertable<Tables[Table]>): Key {
    return this.columns.map((column) => (row as Record<string, unknown>)[column]) as unknown as Key;
  }
}
