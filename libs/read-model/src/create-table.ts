import type { Kysely } from 'kysely';

type Name<Row, Value> = { [Column in keyof Row]: Row[Column] extends Value ? Column : never }[keyof Row] & string;
type Nullable<Row, Value> = Exclude<Name<Row, Value | null>, Name<Row, Value>>;

/** Columns of a table by type; each name must have that type in `Row`. */
export interface TableColumns<Row> {
  text: readonly Name<Row, string>[];
  nullableText?: readonly Nullable<Row, string>[];
  /** 64 bits, as in SQLite. */
  integer?: readonly Name<Row, number>[];
  nullableInteger?: readonly Nullable<Row, number>[];
  primaryKey: readonly (keyof Row & string)[];
  /** Columns of each index, by its name. */
  indexes?: Readonly<Record<string, readonly (keyof Row & string)[]>>;
}

/** Creates a table of a projection with its indexes. */
export const createTable = async <Tables, Table extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: Table,
  {
    text,
    nullableText = [],
    integer = [],
    nullableInteger = [],
    primaryKey,
    indexes = {},
  }: TableColumns<Tables[Table]>,
): Promise<void> => {
  let creating = db.schema.createTable(table);
  for (const column of text) creating = creating.addColumn(column, 'text', (c) => c.notNull());
  for (const column of nullableText) creating = creating.addColumn(column, 'text');
  for (const column of integer) creating = creating.addColumn(column, 'integer', (c) => c.notNull());
  for (const column of nullableInteger) creating = creating.addColumn(column, 'integer');
  await creating.addPrimaryKeyConstraint(`${table}_pk`, [...primaryKey] as never[]).execute();
  for (const [name, columns] of Object.entries(indexes))
    await db.schema
      .createIndex(name)
      .on(table)
      .columns([...columns] as never[])
      .execute();
};
