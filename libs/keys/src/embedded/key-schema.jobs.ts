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
CREATE TABLE IF NOT EXISTS expiring_state (
  tenant TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, expires_at INTEGER NOT NULL, sealed BLOB NOT NULL,
  UNIQUE (tenant, name));
CREATE INDEX IF NOT EXISTS expiring_state_by_expiry ON expiring_state (expires_at);
CREATE TABLE IF NOT EXISTS key_checkpoints (name TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;
`;

/** Creates the tables; the jobs are in the modules that are loaded after it. @throws Error when SQLite would leave a deleted key in the file */
export const createJobs = (db: Database): Jobs => {
  db.exec(SCHEMA);
  const secure = (db.prepare('PRAGMA secure_delete').get() as { secure_delete: number }).secure_delete;
  if (secure !== 1) throw new Error(`PRAGMA secure_delete is ${secure}, expected 1 (ON)`);
  return {};
};
