import type { Database, Jobs } from '@attestry/sqlite';

/** Version 1. Idempotency needs no index on `id`: a repeated append is found at its expected revisions. */
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
    metadata TEXT NOT NULL,
    -- tenant-of.ts
    tenant_id TEXT GENERATED ALWAYS AS (
      CASE WHEN instr(stream, '+') > instr(stream, '-') AND category NOT LIKE '%subdomain'
        THEN substr(stream, instr(stream, '-') + 1, instr(stream, '+') - instr(stream, '-') - 1)
        ELSE metadata ->> '$.tenantId' END
    ) VIRTUAL
  ) STRICT;
  CREATE UNIQUE INDEX events_stream ON events (stream, revision);
  CREATE INDEX events_category ON events (category, position);
  CREATE INDEX events_tenant ON events (tenant_id, position);
  CREATE INDEX events_tenant_streams ON events (tenant_id, stream, revision);
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
  CREATE TABLE snapshots (
    stream TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    chain TEXT NOT NULL,
    state_version TEXT NOT NULL,
    state BLOB NOT NULL
  ) STRICT;
`;
/** In order; a release adds steps and changes none. */
const STEPS: readonly string[] = [SCHEMA];

/** `exclusive`: the caller is the only user of the data folder, so leases of an earlier process are void. */
export interface EmbeddedOptions {
  exclusive: boolean;
}

/** Creates the tables, or adds what later versions have; the jobs are in the modules that are loaded after it. @throws Error when a later release made them */
export const createJobs = (db: Database, options: unknown): Jobs => {
  const { user_version: found } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (found > STEPS.length)
    throw new Error(`the event store has schema version ${found}, this release knows ${STEPS.length}`);
  if (found < STEPS.length)
    db.exec(`BEGIN IMMEDIATE; ${STEPS.slice(found).join('')} PRAGMA user_version = ${STEPS.length}; COMMIT;`);
  if ((options as EmbeddedOptions).exclusive) db.exec('UPDATE leases SET expires_at = 0');
  return {};
};
