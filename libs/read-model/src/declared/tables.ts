import type { TableColumns } from '../create-table.js';

/** Less than a text. */
export class Below {
  constructor(readonly text: string) {}
}
/** In a condition: the column is less than this, as times in RFC 3339 are. */
export const below = (text: string): Below => new Below(text);

/** Columns that have these values, all of them. */
export type Where<Row> = {
  readonly [Column in keyof Row]?: Row[Column] | (Row[Column] extends string ? Below : never);
};

export type AnyRow = Readonly<Record<string, string | number | null>>;
export type AnyWhere = Readonly<Record<string, string | number | null | Below>>;

/**
 * Change by an event.
 * - insert: unless a row with this key exists
 * - put: replaces the row with this key, if any
 * - set: of the rows with these values; nothing without one
 * - remove: the rows with these values
 * - with: what follows from the row with this key; nothing without one
 */
export type Change =
  | { readonly kind: 'insert' | 'put'; readonly table: AnyTable; readonly row: AnyRow }
  | { readonly kind: 'set'; readonly table: AnyTable; readonly where: AnyWhere; readonly values: AnyRow }
  | { readonly kind: 'remove'; readonly table: AnyTable; readonly where: AnyWhere }
  | {
      readonly kind: 'with';
      readonly table: AnyTable;
      readonly where: AnyWhere;
      /** Absent: `changes` do not depend on its values. */
      readonly then?: (row: never) => Changes;
      readonly changes?: Changes;
    };

/** In order. */
export type Changes = Change | readonly Changes[];

/** Parts of a table that statements are made of. */
export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key. */
  readonly key: readonly string[];
}

export interface KeyedTable extends TableShape {
  readonly integers: ReadonlySet<string>;
}

export interface AnyTable extends KeyedTable {
  readonly declared: TableColumns<never>;
}

/**
 * A table of a projection, and what events change in it. Where the values of `set` and `remove` have all columns of the key, further ones
 * are a condition on this row; where they do not, they are those of any number of rows: a prefix of the key, or what an index begins with.
 */
export class DeclaredTable<Row> implements AnyTable {
  readonly columns: readonly string[];
  readonly key: readonly string[];
  readonly integers: ReadonlySet<string>;
  readonly declared: TableColumns<never>;

  constructor(
    readonly name: string,
    declared: TableColumns<Row>,
  ) {
    const { text, nullableText = [], integer = [], nullableInteger = [], primaryKey } = declared;
    this.columns = [...text, ...nullableText, ...integer, ...nullableInteger];
    this.key = primaryKey;
    this.integers = new Set([...integer, ...nullableInteger]);
    this.declared = declared as unknown as TableColumns<never>;
  }

  insert(row: Row): Change {
    return { kind: 'insert', table: this, row: row as AnyRow };
  }

  put(row: Row): Change {
    return { kind: 'put', table: this, row: row as AnyRow };
  }

  set(where: Where<Row>, values: Partial<Row>): Change {
    if (this.key.some((column) => column in values)) throw new Error(`${this.name}: the key of a row does not change`);
    return { kind: 'set', table: this, where: where as AnyWhere, values: values as AnyRow };
  }

  remove(where: Where<Row>): Change {
    return { kind: 'remove', table: this, where: where as AnyWhere };
  }

  /** Changes that depend on a row. Columns beside those of the key are a condition on it. */
  with(where: Where<Row>, then: (row: Row) => Changes): Change {
    return { kind: 'with', table: this, where: this.naming(where), then };
  }

  /** Changes that are made if a row exists, whose other values are then not read. */
  ifExists(where: Where<Row>, changes: Changes): Change {
    return { kind: 'with', table: this, where: this.naming(where), changes };
  }

  private naming(where: Where<Row>): AnyWhere {
    const missing = this.key.filter((column) => !(column in where));
    if (missing.length)
      throw new Error(`${this.name}: a row is named by all columns of its key, also ${missing.join()}`);
    return where as AnyWhere;
  }
}

export type DeclaredTables<Tables> = { readonly [Name in keyof Tables & string]: DeclaredTable<Tables[Name]> };

/** Tables of a projection, with the types of their columns: `const { thing } = declareTables<ThingTables>({ thing: { … } })`. */
export const declareTables = <Tables>(declared: {
  readonly [Name in keyof Tables & string]: TableColumns<Tables[Name]>;
}): DeclaredTables<Tables> =>
  Object.fromEntries(
    Object.entries(declared).map(([name, columns]) => [name, new DeclaredTable(name, columns as TableColumns<never>)]),
  ) as unknown as DeclaredTables<Tables>;
