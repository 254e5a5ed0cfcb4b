import type { Database, Jobs } from '@attestry/sqlite';

// Runs inside the file's own thread. Rows cross the thread as flat arrays of strings and numbers, which cost the least to copy.

const SCHEMA_VERSION = 4;

/** Idempotency needs no index on `id`: a repeated append is found at its expected revisions. */
const SCHEMA = `
  CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    stream TEXT NOT NULL,
    category TEXT NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    data TEXT NOT NULL,
    metadata TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX events_stream ON events (stream, revision);
  CREATE INDEX events_category ON events (category, position);
  -- Last revision of streams whose events were all discarded, so that revisions are not used twice.
  CREATE TABLE discarded (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE checkpoints (
    name TEXT PRIMARY KEY,
    position TEXT NOT NULL,
    epoch INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
/** New in version 2. */
const SNAPSHOTS = `
  CREATE TABLE snapshots (
    stream TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    chain TEXT NOT NULL,
    state_version TEXT NOT NULL,
    state BLOB NOT NULL
  ) STRICT;
`;
/** New in version 3. Computed from each row, so events stored before have it too; tenant-of.ts. */
const TENANTS = `
  ALTER TABLE events ADD COLUMN tenant_id TEXT GENERATED ALWAYS AS (
    CASE WHEN instr(stream, '+') > instr(stream, '-') AND category NOT LIKE '%subdomain'
      THEN substr(stream, instr(stream, '-') + 1, instr(stream, '+') - instr(stream, '-') - 1)
      ELSE metadata ->> '$.tenantId' END
  ) VIRTUAL;
  CREATE INDEX events_tenant ON events (tenant_id, position);
  CREATE INDEX events_tenant_streams ON events (tenant_id, stream, revision);
`;
/** Version 4: keys and single-use values are in this file (ADR 0074). An earlier release, which would make others, refuses it. */
const KEYS = '';

/** `limit` -1: all. */
export type ReadStreamArgs = [stream: string, from: number, limit: number, descending: boolean, mostCharacters: number];

const COLUMNS = 'position, stream, revision, id, type, schema_version, data, metadata';
/** A page ends early at this many characters: pages of large events must not fill the memory. */
const PAGE_CHARACTERS = 8 * 1024 * 1024;

const fault = (name: string, message: string, details?: unknown) =>
  Object.assign(new Error(message), { name, code: name, details });

/** `exclusive`: the caller is the only user of the data folder, so leases of an earlier process are void. */
export interface EmbeddedOptions {
  exclusive: boolean;
}

/** [stream, category, expected revision, then per event: id, type, schemaVersion, data, metadata] */
export type AppendArgs = [string, string, number, ...(string | number)[]];
/** [revision, last position, first position; 0 when the events were stored before] */
export type AppendAnswer = [number, number, number];
/** Eight values per event, in the order of the columns. */
export type Rows = (string | number)[];
/** [rows, next position, nothing more was stored] */
export type PageAnswer = [Rows, number, boolean];
/** [epoch, expiresAt] */
export type LeaseAnswer = [number, number] | undefined;
/** [revision, chain value, state version, state] */
export type SnapshotRow = [number, string, string, Uint8Array];

export function createJobs(db: Database, options: unknown): Jobs {
  const { user_version: found } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (found > SCHEMA_VERSION)
    throw new Error(`the event store has schema version ${found}, this release knows ${SCHEMA_VERSION}`);
  if (found < SCHEMA_VERSION) {
    const missing = [SCHEMA, SNAPSHOTS, TENANTS, KEYS].slice(found).join('');
    db.exec(`BEGIN IMMEDIATE; ${missing} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
  }
  if ((options as EmbeddedOptions).exclusive) db.exec('UPDATE leases SET expires_at = 0');

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

  const readLease = db.prepare('SELECT holder, epoch, expires_at FROM leases WHERE name = ?');
  const writeLease = db.prepare(
    `INSERT INTO leases (name, holder, epoch, expires_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, expires_at = excluded.expires_at`,
  );
  const renewLease = db.prepare(
    'UPDATE leases SET expires_at = ? WHERE name = ? AND holder = ? AND epoch = ? AND expires_at > ?',
  );
  const releaseLease = db.prepare('UPDATE leases SET expires_at = 0 WHERE name = ? AND holder = ? AND epoch = ?');
  const heldLease = db.prepare('SELECT 1 FROM leases WHERE name = ? AND holder = ? AND epoch = ? AND expires_at > ?');
  const readCheckpoint = arrays('SELECT position FROM checkpoints WHERE name = ?');
  const allCheckpoints = arrays('SELECT name, position FROM checkpoints ORDER BY name');
  const newestEpoch = arrays(
    'SELECT max(epoch) FROM (SELECT epoch FROM leases WHERE name = ?1 UNION ALL SELECT epoch FROM checkpoints WHERE name = ?1)',
  );
  const writeCheckpoint = db.prepare(
    `INSERT INTO checkpoints (name, position, epoch) VALUES (?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET position = excluded.position, epoch = excluded.epoch`,
  );

  const readSnapshot = arrays('SELECT revision, chain, state_version, state FROM snapshots WHERE stream = ?');
  const writeSnapshot = db.prepare(
    `INSERT INTO snapshots (stream, revision, chain, state_version, state) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, chain = excluded.chain,
       state_version = excluded.state_version, state = excluded.state
     WHERE excluded.state_version <> state_version OR excluded.revision > revision`,
  );

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
          throw fault('WrongExpectedRevision', `${stream} is at ${actual}`, actual);
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
    acquireLease: {
      kind: 'write',
      execute([name, holder, ttl]: [string, string, number]): LeaseAnswer {
        const now = Date.now();
        const current = readLease.get(name) as { holder: string; epoch: number; expires_at: number } | undefined;
        const held = current !== undefined && current.expires_at > now;
        if (held && current.holder !== holder) return undefined;
        const epoch = held ? current.epoch : (current?.epoch ?? 0) + 1;
        writeLease.run(name, holder, epoch, now + ttl);
        return [epoch, now + ttl];
      },
    },
    renewLease: {
      kind: 'write',
      execute([name, holder, epoch, ttl]: [string, string, number, number]): number | undefined {
        const now = Date.now();
        return renewLease.run(now + ttl, name, holder, epoch, now).changes ? now + ttl : undefined;
      },
    },
    releaseLease: {
      kind: 'write',
      execute: ([name, holder, epoch]: [string, string, number]): void => void releaseLease.run(name, holder, epoch),
    },
    isLeaseHeld: {
      kind: 'read',
      execute: ([name, holder, epoch]: [string, string, number]): boolean =>
        heldLease.get(name, holder, epoch, Date.now()) !== undefined,
    },
    readCheckpoint: {
      kind: 'read',
      execute: (name: string): string | undefined => readCheckpoint.get(name)?.[0] as string | undefined,
    },
    listCheckpoints: {
      kind: 'read',
      execute: () => allCheckpoints.all().map(([name, position]) => ({ name, position })),
    },
    writeCheckpoint: {
      kind: 'write',
      execute([name, position, epoch]: [string, string, number]): void {
        const newest = (newestEpoch.get(name)?.[0] as number | null) ?? 0;
        if (newest > epoch) throw fault('StaleEpoch', `checkpoint ${name} is at epoch ${newest}, not ${epoch}`);
        writeCheckpoint.run(name, position, epoch);
      },
    },
    readSnapshot: {
      kind: 'read',
      execute: (stream: string): SnapshotRow | undefined =>
        readSnapshot.get(stream) as unknown as SnapshotRow | undefined,
    },
    writeSnapshot: {
      kind: 'write',
      execute: (row: (string | number | Uint8Array)[]): void => void writeSnapshot.run(...row),
    },
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
}
