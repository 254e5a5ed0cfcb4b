import { SqliteAdapter, sql, type Insertable, type Transaction } from 'kysely';

/** Rows of one statement where each value is a parameter; SQLite takes 32,766. */
const ROWS = 1000;

/**
 * Inserts many rows and passes those that are there already. On SQLite the rows travel as one JSON parameter: compiling
 * and binding thousands of parameters cost more than the insert itself. Values are texts, numbers or null.
 */
export const insertRows = async <Tables, Table extends keyof Tables & string>(
  trx: Transaction<Tables>,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> => {
  if (!rows.length) return;
  if (trx.getExecutor().adapter instanceof SqliteAdapter) {
    const columns = Object.keys(rows[0] as object);
    const values = JSON.stringify(rows.map((row) => columns.map((column) => (row as Record<string, unknown>)[column])));
    await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      select ${sql.join(columns.map((_column, index) => sql.raw(`value ->> ${index}`)))}
      from json_each(${values}) where true on conflict do nothing`.execute(trx);
    return;
  }
  for (let i = 0; i < rows.length; i += ROWS)
    await trx
      .insertInto(table)
      .values(rows.slice(i, i + ROWS))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
};
