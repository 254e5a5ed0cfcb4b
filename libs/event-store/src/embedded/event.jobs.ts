import type { Database, Jobs } from '@attestry/sqlite';

// Rows cross the thread as flat arrays of strings and numbers, which cost the least to copy.

/** `limit` -1: all. */
export type ReadStreamArgs = [stream: string, from: number, limit: number, descending: boolean, mostCharacters: number];

const COLUMNS = 'position, stream, revision, id, type, schema_version, data, metadata';
/** A page ends early at this many characters: pages of large events must not fill the memory. */
const PAGE_CHARACTERS = 8 * 1024 * 1024;

/** [stream, category, expected revision, then per event: id, type, schemaVersion, data, metadata] */
export type AppendArgs = [string, string, number, ...(string | number)[]];
/** [revision, last position, first position; 0 when the events were stored before] */
export type AppendAnswer = [number, number, number];
/** Eight values per event, in the order of the columns. */
export type Rows = (string | number)[];
/** [rows, next position, nothing more was stored] */
export type PageAnswer = [Rows, number, boolean];

/** Appends to streams, and reads them and all events. */
export const createJobs = (db: Database): Jobs => {
  const arrays = (sql: string) => {
    const statement = db.prepare(sql);
    statement.setReturnArrays(true);
    return statement as unknown as {
      get(...args: (string | number)[]): (string | number)[] | undefined;
      all(...args: (string | number)[]): (string | number)[][];
      iterate(...args: (string | number)[]): Iterable<(string | number)[]>;
    };
  };
  const lastRevision = arrays('SELECT revision FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1');
  const discardedRevision = arrays('SELECT revision FROM discarded WHERE stream = ?');
  const idsBetween = arrays(
    'SELECT id, position FROM events WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision',
  );
  const insert = db.prepare(
    'INSERT INTO events (stream, category, revision, id, type, schema_version, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const forwards = arrays(`SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`);
  const backwards = arrays(
    `SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision <= ? ORDER BY revision DESC LIMIT ?`,
  );
  // Not of the rows: retention may have discarded all of them, and positions continue.
  const head = arrays("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  const everything = arrays(`SELECT ${COLUMNS} FROM events WHERE position > ? ORDER BY position LIMIT ?`);
  const ofCategory = arrays(
    `SELECT ${COLUMNS} FROM events WHERE category = ? AND position > ? ORDER BY position LIMIT ?`,
  );
  const positionsOf = arrays(
    'SELECT position FROM events WHERE category = ? AND position > ? ORDER BY position LIMIT ?',
  );
  const ofTenant = arrays(
    `SELECT ${COLUMNS} FROM events WHERE tenant_id = ? AND position > ? ORDER BY position LIMIT ?`,
  );
  const nextStreamOfTenant = arrays(
    'SELECT stream FROM events WHERE tenant_id = ? AND stream > ? ORDER BY stream LIMIT 1',
  );
  const atPosition = arrays(`SELECT ${COLUMNS} FROM events WHERE position = ?`);

  const headPosition = () => (head.get()?.[0] as number | undefined) ?? 0;

  function* ofCategories(categories: string[], after: number, limit: number) {
    // Each category through its index, then merged: the cost of reading on does not depend on how much the filter hides.
    const positions = categories.flatMap((category) =>
      positionsOf.all(category, after, limit).map((row) => row[0] as number),
    );
    positions.sort((a, b) => a - b);
    for (const position of positions.slice(0, limit)) yield atPosition.get(position)!;
  }

  const oldest = arrays(
    `SELECT position, stream, json_extract(metadata, '$.occurredAt') FROM events WHERE position > ? ORDER BY position LIMIT ?`,
  );
  const remove = db.prepare('DELETE FROM events WHERE position = ?');
  const rememberRevision = db.prepare(
    `INSERT INTO discarded (stream, revision) VALUES (?, ?)
     ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision`,
  );

  return {
    append: {
      kind: 'write',
      execute([stream, category, expected, ...values]: AppendArgs): AppendAnswer {
        const count = values.length / 5;
        const actual = ((lastRevision.get(stream) ?? discardedRevision.get(stream))?.[0] as number | undefined) ?? -1;
        if (actual !== expected) {
          if (actual >= expected + count) {
            const stored = idsBetween.all(stream, expected + 1, expected + count);
            if (stored.length === count && stored.every(([id], index) => id === values[index * 5]))
              return [expected + count, stored[count - 1]![1] as number, 0];
          }
          const name = 'WrongExpectedRevision';
          throw Object.assign(new Error(`${stream} is at ${actual}`), { name, code: name, details: actual });
        }
        let last = 0;
        for (let index = 0; index < count; index++) {
          const at = index * 5;
          const [id, type, version, data, metadata] = [
            values[at]!,
            values[at + 1]!,
            values[at + 2]!,
            values[at + 3]!,
            values[at + 4]!,
          ];
          const done = insert.run(stream, category, expected + 1 + index, id, type, version, data, metadata);
          last = done.lastInsertRowid as number;
        }
        return [expected + count, last, last - count + 1];
      },
    },
    readStream: {
      kind: 'read',
      execute([stream, from, limit, descending, mostCharacters]: ReadStreamArgs): Rows {
        const rows: Rows = [];
        let characters = 0;
        for (const row of (descending ? backwards : forwards).iterate(stream, from, limit)) {
          rows.push(...row);
          characters += (row[6] as string).length + (row[7] as string).length;
          if (characters > mostCharacters) break;
        }
        return rows;
      },
    },
    readAll: {
      kind: 'read',
      execute([after, limit, categories, tenantId]: [number, number, string[]?, string?]): PageAnswer {
        const end = Math.max(headPosition(), after);
        if (end === after) return [[], after, true];
        const source =
          tenantId !== undefined
            ? ofTenant.iterate(tenantId, after, limit)
            : categories === undefined
              ? everything.iterate(after, limit)
              : categories.length === 1
                ? ofCategory.iterate(categories[0]!, after, limit)
                : ofCategories(categories, after, limit);
        const rows: Rows = [];
        let [count, characters, last] = [0, 0, after];
        for (const row of source) {
          rows.push(...row);
          last = row[0] as number;
          characters += (row[6] as string).length + (row[7] as string).length;
          if (++count === limit || characters > PAGE_CHARACTERS) return [rows, last, last === end];
        }
        return [rows, end, true];
      },
    },
    tenantStreams: {
      kind: 'read',
      execute([tenantId, afterName, limit]: [string, string, number]): string[] {
        // From stream to stream through the index, however many events each has.
        const names: string[] = [];
        while (names.length < limit) {
          const row = nextStreamOfTenant.get(tenantId, names.at(-1) ?? afterName);
          if (!row) break;
          names.push(row[0] as string);
        }
        return names;
      },
    },
    head: { kind: 'read', execute: (): number => headPosition() },
    /** One portion, so that appends run in between. Returns the number of discarded events and whether to continue. */
    discardBefore: {
      kind: 'write',
      execute([before, portion]: [string, number]): [number, boolean] {
        const candidates = oldest.all(0, portion);
        let gone = 0;
        for (const [position, stream, occurredAt] of candidates) {
          if (occurredAt! >= before) return [gone, false];
          const revision = lastRevision.get(stream!)?.[0];
          remove.run(position!);
          if (lastRevision.get(stream!) === undefined) rememberRevision.run(stream!, revision!);
          gone++;
        }
        return [gone, candidates.length === portion];
      },
    },
  };
};
