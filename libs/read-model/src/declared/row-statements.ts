import { SqliteAdapter, sql, type RawBuilder, type Transaction } from 'kysely';
import { storableText } from '../postgres/storable-text.js';
import { Below, type AnyRow, type AnyWhere, type KeyedTable, type TableShape } from './tables.js';

type Trx = Transaction<unknown>;

/** Rows as a table `k` of few parameters: compiling and binding thousands of parameters cost more than the statement itself. */
interface SentRows {
  rows: RawBuilder<unknown>;
  column(name: string): RawBuilder<unknown>;
}

const isSqlite = (trx: Trx) => trx.getExecutor().adapter instanceof SqliteAdapter;
const storable = (value: unknown) => (typeof value === 'string' ? storableText(value) : value);

const sendJson = (columns: readonly string[], rows: readonly AnyRow[]): SentRows => ({
  rows: sql`json_each(${JSON.stringify(rows.map((row) => columns.map((column) => row[column])))}) as k`,
  column: (column) => sql.raw(`k.value ->> ${columns.indexOf(column)}`),
});

/** PostgreSQL is to know their number: for a few rows it must not read a whole table to join them. */
const sendArrays = (table: KeyedTable, columns: readonly string[], rows: readonly AnyRow[]): SentRows => ({
  rows: sql`unnest(${sql.join(
    columns.map((column) => {
      const values = rows.map((row) => storable(row[column] ?? null));
      return table.integers.has(column) ? sql`${values}::bigint[]` : sql`${values}::text[]`;
    }),
  )}) as k(${names(columns)})`,
  column: (column) => sql.ref(`k.${column}`),
});
const send = (trx: Trx, table: KeyedTable, columns: readonly string[], rows: readonly AnyRow[]): SentRows =>
  isSqlite(trx) ? sendJson(columns, rows) : sendArrays(table, columns, rows);

const names = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));
const hasKey = ({ key }: KeyedTable, sent: SentRows) =>
  sql.join(
    key.map((column) => sql`${sql.ref(`r.${column}`)} = ${sent.column(column)}`),
    sql` and `,
  );

/** Some columns of the rows that exist of these keys. */
export const selectRows = async (
  trx: Trx,
  table: KeyedTable,
  columns: readonly string[],
  keys: readonly AnyRow[],
): Promise<AnyRow[]> => {
  const sent = send(trx, table, table.key, keys);
  // SQLite takes a cross join in this order: it looks up each key, whatever it expects of the table.
  const { rows } = await sql<AnyRow>`select ${sql.join(columns.map((column) => sql.ref(`r.${column}`)))}
    from ${sent.rows} cross join ${sql.table(table.name)} as r where ${hasKey(table, sent)}`.execute(trx);
  return rows;
};

/** Inserts rows; existing ones stay, or are replaced. */
export const insertAll = async (
  trx: Trx,
  { name, columns, key }: TableShape,
  rows: readonly AnyRow[],
  replaces: boolean,
): Promise<void> => {
  if (!rows.length) return;
  const others = columns.filter((column) => !key.includes(column));
  const excluded = others.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
  const action = replaces && others.length ? sql`(${names(key)}) do update set ${sql.join(excluded)}` : sql`do nothing`;
  const sent = isSqlite(trx)
    ? sendJson(columns, rows)
    : {
        // The table's row type declares the values.
        rows: sql`json_populate_recordset(null::${sql.table(name)}, ${JSON.stringify(rows, (_, value) => storable(value))}) as k`,
        column: (column: string) => sql.ref(`k.${column}`),
      };
  await sql`insert into ${sql.table(name)} (${names(columns)})
    select ${sql.join(columns.map((column) => sent.column(column)))} from ${sent.rows} where true
    on conflict ${action}`.execute(trx);
};

export const deleteRows = async (trx: Trx, table: KeyedTable, keys: readonly AnyRow[]): Promise<void> => {
  if (!keys.length) return;
  const sent = send(trx, table, table.key, keys);
  const selected = sql`select ${sql.join(table.key.map((column) => sent.column(column)))} from ${sent.rows}`;
  await sql`delete from ${sql.table(table.name)} where (${names(table.key)}) in (${selected})`.execute(trx);
};

/** Sets some columns of rows. */
export const updateRows = async (
  trx: Trx,
  table: KeyedTable,
  changed: readonly string[],
  rows: readonly AnyRow[],
): Promise<void> => {
  const sent = send(trx, table, [...table.key, ...changed], rows);
  const values = changed.map((column) => sql`${sql.ref(column)} = ${sent.column(column)}`);
  await sql`update ${sql.table(table.name)} as r set ${sql.join(values)} from ${sent.rows}
    where ${hasKey(table, sent)}`.execute(trx);
};

const condition = (where: AnyWhere) =>
  sql.join(
    Object.entries(where).map(([column, value]) => {
      if (value === null) return sql`${sql.ref(column)} is null`;
      return value instanceof Below ? sql`${sql.ref(column)} < ${value.text}` : sql`${sql.ref(column)} = ${value}`;
    }),
    sql` and `,
  );

export const deleteWhere = async (trx: Trx, { name }: TableShape, where: AnyWhere): Promise<void> => {
  await sql`delete from ${sql.table(name)} where ${condition(where)}`.execute(trx);
};

export const updateWhere = async (trx: Trx, { name }: TableShape, where: AnyWhere, values: AnyRow): Promise<void> => {
  const set = Object.entries(values).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  await sql`update ${sql.table(name)} set ${sql.join(set)} where ${condition(where)}`.execute(trx);
};
