import type { Insertable, Transaction } from 'kysely';
import { insertAll } from './declared/row-statements.js';
import type { AnyRow } from './declared/tables.js';

/** Inserts many rows in one statement and skips existing ones. Values are texts, numbers or null. */
export const insertRows = <Tables, Table extends keyof Tables & string>(
  trx: Transaction<Tables>,
  name: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> => {
  const columns = Object.keys(rows[0] ?? {});
  return insertAll(trx as never, { name, columns, key: [] }, rows as unknown as AnyRow[], false);
};

/** Inserts many rows in one statement; those with the same key are replaced. */
export const putRows = <Tables, Table extends keyof Tables & string>(
  trx: Transaction<Tables>,
  name: Table,
  key: readonly (keyof Tables[Table] & string)[],
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> =>
  insertAll(trx as never, { name, columns: Object.keys(rows[0] ?? {}), key }, rows as unknown as AnyRow[], true);
