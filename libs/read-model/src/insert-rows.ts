import { SqliteAdapter, sql, type Insertable, type Transaction } from 'kysely';
import { storableText } from './postgres/storable-text.js';

/**
 * Inserts many rows and skips existing ones. The rows are sent as one JSON parameter: compiling and binding thousands of parameters cost
 * more than the insert itself. Values are texts, numbers or null.
 */
export const insertRows = async <Tables, Table extends keyof Tables & string>(
  trx: Transaction<Tables>,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> => {
  if (!rows.length) return;
  const columns = Object.keys(rows[0] as object);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  if (trx.getExecutor().adapter instanceof SqliteAdapter) {
    const values = JSON.stringify(rows.map((row) => columns.map((column) => (row as Record<string, unknown>)[column])));
    await sql`insert into ${sql.table(table)} (${names})
      select ${sql.join(columns.map((_column, index) => sql.raw(`value ->> ${index}`)))}
      from json_each(${values}) where true on conflict do nothing`.execute(trx);
    return;
  }
  const values = JSON.stringify(rows, (_name, value: unknown) =>
    typeof value === 'string' ? storableText(value) : value,
  );
  // The table's row type declares the values.
  await sql`insert into ${sql.table(table)} (${names})
    select ${names} from json_populate_recordset(null::${sql.table(table)}, ${values}) on conflict do nothing`.execute(
    trx,
  );
};
