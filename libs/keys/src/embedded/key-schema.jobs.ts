import { existsSync, rmSync } from 'node:fs';
import type { Database, Jobs } from '@attestry/sqlite';

// Key material is stored only in tables with an ascending integer key, in rows of constant length, and is overwritten in place with zeros,
// never deleted: SQLite then never moves a row between pages, which would leave a copy in a page's unused part that `secure_delete` does
// not reach. The zeroed row is the tombstone. Values that are stored with a data key are unreadable without it: they are deleted.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS tenant_keys (
  seq INTEGER PRIMARY KEY, tenant TEXT NOT NULL UNIQUE, live INTEGER NOT NULL, wrapped BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS signing_keys (
  seq INTEGER PRIMARY KEY, key_id TEXT NOT NULL, tenant TEXT NOT NULL, purpose TEXT NOT NULL, algorithm TEXT NOT NULL,
  public_jwk TEXT NOT NULL, created_at TEXT NOT NULL, live INTEGER NOT NULL, sealed BLOB NOT NULL,
  UNIQUE (tenant, key_id));
CREATE INDEX IF NOT EXISTS signing_keys_by_purpose ON signing_keys (tenant, purpose);
CREATE TABLE IF NOT EXISTS data_keys (
  seq INTEGER PRIMARY KEY, tenant TEXT NOT NULL, purpose TEXT NOT NULL, id TEXT NOT NULL,
  live INTEGER NOT NULL, sealed BLOB NOT NULL,
  UNIQUE (tenant, id, purpose));
CREATE TABLE IF NOT EXISTS sealed_values (
  seq INTEGER PRIMARY KEY, tenant TEXT NOT NULL, id TEXT NOT NULL, purpose TEXT NOT NULL, value BLOB NOT NULL,
  UNIQUE (tenant, id, purpose));
CREATE TRIGGER IF NOT EXISTS values_end_with_their_key AFTER UPDATE OF live ON data_keys WHEN NEW.live = 0
BEGIN
  DELETE FROM sealed_values WHERE tenant = NEW.tenant AND id = NEW.id;
END;
CREATE TABLE IF NOT EXISTS peppers (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, wrapped BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS remembered (
  tenant TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, expires_at INTEGER NOT NULL, sealed BLOB NOT NULL,
  UNIQUE (tenant, name));
CREATE INDEX IF NOT EXISTS remembered_by_expiry ON remembered (expires_at);
CREATE TABLE IF NOT EXISTS key_checkpoints (name TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;
`;

/** A file with keys alone, of a release before 0074. */
export interface KeyFileOptions {
  former: string;
}
/** Its tables with their columns; `checkpoints` has another name now. */
const FORMER: Record<string, { into?: string; columns: string; inOrder?: string; erase?: string }> = {
  tenant_keys: { columns: 'tenant, live, wrapped', erase: 'wrapped = zeroblob(64)' },
  signing_keys: {
    columns: 'key_id, tenant, purpose, algorithm, public_jwk, created_at, live, sealed',
    inOrder: 'ORDER BY seq',
    erase: 'sealed = zeroblob(60)',
  },
  data_keys: { columns: 'tenant, purpose, id, live, sealed', erase: 'sealed = zeroblob(60)' },
  peppers: { columns: 'id, wrapped', inOrder: 'ORDER BY seq', erase: 'wrapped = zeroblob(64)' },
  remembered: { columns: 'tenant, name, version, expires_at, sealed', erase: 'sealed = zeroblob(length(sealed))' },
  checkpoints: { into: 'key_checkpoints', columns: 'name, position' },
};

/**
 * Moves the keys of an earlier release's file into this one. After a crash it is repeated: rows that are here already stay as they are.
 * The sealed keys are overwritten there: one that is destroyed later must not remain in the blocks of a deleted file.
 */
const moveFormerKeys = (db: Database, former: string): void => {
  if (!existsSync(former)) return;
  db.prepare('ATTACH ? AS former').run(former);
  // No other process may read it meanwhile, because the log would keep the sealed keys.
  db.exec('PRAGMA former.locking_mode = EXCLUSIVE; PRAGMA former.secure_delete = ON');
  const found = db.prepare("SELECT name FROM former.sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  const tables = found.flatMap(({ name }) => (FORMER[name] ? [[name, FORMER[name]] as const] : []));
  db.exec('BEGIN IMMEDIATE');
  for (const [name, key] of [
    ['tenant_keys', 'tenant'],
    ['peppers', 'id'],
  ] as const)
    if (tables.some(([table]) => table === name)) {
      const differing = db
        .prepare(
          `SELECT 1 FROM former.${name} f JOIN main.${name} m ON m.${key} = f.${key}
           WHERE f.wrapped <> m.wrapped AND f.wrapped <> zeroblob(64) AND m.wrapped <> zeroblob(64)`,
        )
        .get();
      if (differing)
        throw new Error(
          `${former} has keys that an earlier release made after the upgrade: restore the backup, or remove it`,
        );
    }
  for (const [name, { into = name, columns, inOrder = '' }] of tables)
    db.exec(`INSERT OR IGNORE INTO main.${into} (${columns}) SELECT ${columns} FROM former.${name} ${inOrder}`);
  db.exec('COMMIT');
  for (const [name, { erase }] of tables) if (erase) db.exec(`UPDATE former.${name} SET ${erase}`);
  const { busy } = db.prepare('PRAGMA former.wal_checkpoint(TRUNCATE)').get() as { busy: number };
  if (busy) throw new Error(`${former} is in use`);
  db.exec('DETACH former');
  for (const end of ['-wal', '-shm', '']) rmSync(former + end, { force: true });
};

/** Creates the tables; the jobs are in the modules that are loaded after it. @throws Error when SQLite would leave a deleted key in the file */
export const createJobs = (db: Database, options?: unknown): Jobs => {
  db.exec(SCHEMA);
  if (options) moveFormerKeys(db, (options as KeyFileOptions).former);
  const secure = (db.prepare('PRAGMA secure_delete').get() as { secure_delete: number }).secure_delete;
  if (secure !== 1) throw new Error(`PRAGMA secure_delete is ${secure}, expected 1 (ON)`);
  return {};
};
