import { existsSync, rmSync } from 'node:fs';
import type { Database, Jobs } from '@attestry/sqlite';
import type {
  DataKeyRow,
  Found,
  StoredKey,
  KeyTable,
  TenantTable,
  ExpiringRow,
  Rewrap,
  SigningKeyRow,
  KeyJobs,
  WrappedKey,
} from '../stored/key-store.js';

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

type Row = Record<string, unknown>;

/** How the rows of an ended tenant are destroyed, by their names; destroyed ones are not written again. */
const DESTROY_ROWS: Record<TenantTable, { name: string; statement: string }> = {
  sealed_values: { name: 'id', statement: 'DELETE FROM sealed_values WHERE' },
  signing_keys: {
    name: 'key_id',
    statement: 'UPDATE signing_keys SET live = 0, sealed = zeroblob(60) WHERE live = 1 AND',
  },
  data_keys: { name: 'id', statement: 'UPDATE data_keys SET live = 0, sealed = zeroblob(60) WHERE live = 1 AND' },
  remembered: { name: 'name', statement: 'DELETE FROM remembered WHERE' },
};

/** Columns of a {@link StoredKey}, in each table. */
const KEPT: Record<KeyTable, string> = {
  tenant_keys: "seq, tenant, '' AS id, '' AS purpose, live, wrapped AS sealed",
  signing_keys: 'seq, tenant, key_id AS id, purpose, live, sealed, algorithm, public_jwk, created_at',
  data_keys: 'seq, tenant, id, purpose, live, sealed',
  sealed_values: 'seq, tenant, id, purpose, 1 AS live, value AS sealed',
};
const ID: Record<KeyTable, string> = {
  tenant_keys: "''",
  signing_keys: 'key_id',
  data_keys: 'id',
  sealed_values: 'id',
};
const INSERT: Record<KeyTable, string> = {
  tenant_keys: 'tenant_keys (tenant, live, wrapped) VALUES (:tenant, :live, :sealed)',
  signing_keys: `signing_keys (key_id, tenant, purpose, algorithm, public_jwk, created_at, live, sealed)
    VALUES (:id, :tenant, :purpose, :algorithm, :publicJwk, :createdAt, :live, :sealed)`,
  data_keys: 'data_keys (tenant, purpose, id, live, sealed) VALUES (:tenant, :purpose, :id, :live, :sealed)',
  sealed_values: `sealed_values (tenant, id, purpose, value) SELECT :tenant, :id, :purpose, :sealed WHERE EXISTS (
    SELECT 1 FROM data_keys WHERE tenant = :tenant AND id = :id AND purpose = :purpose AND live = 1)`,
};
const storedKey = (row: Row): StoredKey => ({
  tenantId: row['tenant'] as string,
  id: row['id'] as string,
  purpose: row['purpose'] as string,
  live: row['live'] === 1,
  sealed: row['sealed'] as Uint8Array,
  ...(row['algorithm'] !== undefined && {
    algorithm: row['algorithm'] as string,
    publicJwk: row['public_jwk'] as string,
    createdAt: row['created_at'] as string,
  }),
});

const signingKey = (row: Row): SigningKeyRow => ({
  keyId: row['key_id'] as string,
  tenant: row['tenant'] as string,
  purpose: row['purpose'] as string,
  algorithm: row['algorithm'] as string,
  publicJwk: row['public_jwk'] as string,
  createdAt: row['created_at'] as string,
  sealed: row['sealed'] as Uint8Array,
});

const fault = (code: string, message: string) => Object.assign(new Error(message), { code });

export const createJobs = (db: Database, options?: unknown): Jobs => {
  db.exec(SCHEMA);
  if (options) moveFormerKeys(db, (options as KeyFileOptions).former);
  const secure = (db.prepare('PRAGMA secure_delete').get() as { secure_delete: number }).secure_delete;
  if (secure !== 1) throw new Error(`PRAGMA secure_delete is ${secure}, expected 1 (ON)`);

  const tenantKey = db.prepare('SELECT tenant, live, wrapped FROM tenant_keys WHERE tenant = ?');
  const insertTenantKey = db.prepare('INSERT INTO tenant_keys (tenant, live, wrapped) VALUES (?, 1, ?)');
  const insertTenantTombstone = db.prepare(
    'INSERT OR IGNORE INTO tenant_keys (tenant, live, wrapped) VALUES (?, 0, zeroblob(64))',
  );
  const tenantEnded = db.prepare('SELECT 1 FROM tenant_keys WHERE tenant = ? AND live = 0');
  const wrappedTenantKeys = db.prepare('SELECT tenant, wrapped FROM tenant_keys WHERE live = 1');
  const peppers = db.prepare('SELECT id, wrapped FROM peppers ORDER BY seq');
  const insertPepper = db.prepare('INSERT OR IGNORE INTO peppers (id, wrapped) VALUES (?, ?)');
  const rewrapTenantKey = db.prepare('UPDATE tenant_keys SET wrapped = ? WHERE tenant = ? AND wrapped = ?');
  const rewrapPepper = db.prepare('UPDATE peppers SET wrapped = ? WHERE id = ? AND wrapped = ?');

  const insertSigningKey = db.prepare(
    `INSERT INTO signing_keys (key_id, tenant, purpose, algorithm, public_jwk, created_at, live, sealed)
     VALUES (?, ?, ?, ?, ?, ?, 1, ?)`,
  );
  // The rows of an ended tenant are overwritten in portions; its own key is gone already.
  const ofLiveTenant = `tenant = ? AND live = 1 AND NOT EXISTS (
    SELECT 1 FROM tenant_keys ended WHERE ended.tenant = signing_keys.tenant AND ended.live = 0)`;
  const signingKeyById = db.prepare(`SELECT * FROM signing_keys WHERE ${ofLiveTenant} AND key_id = ?`);
  const signingKeysByPurpose = db.prepare(
    `SELECT * FROM signing_keys WHERE ${ofLiveTenant} AND purpose = ? ORDER BY seq`,
  );
  const newestSigningKey = db.prepare(
    `SELECT * FROM signing_keys WHERE ${ofLiveTenant} AND purpose = ? AND algorithm = ? ORDER BY seq DESC LIMIT 1`,
  );

  const dataKey = db.prepare('SELECT live, sealed FROM data_keys WHERE tenant = ? AND id = ? AND purpose = ?');
  const dataKeyEnded = db.prepare('SELECT 1 FROM data_keys WHERE tenant = ? AND id = ? AND live = 0 LIMIT 1');
  const insertDataKey = db.prepare('INSERT INTO data_keys (tenant, purpose, id, live, sealed) VALUES (?, ?, ?, 1, ?)');
  const storedValue = db.prepare('SELECT value FROM sealed_values WHERE tenant = ? AND id = ? AND purpose = ?');
  const insertValue = db.prepare('INSERT INTO sealed_values (tenant, id, purpose, value) VALUES (?, ?, ?, ?)');
  // An absent key gets its tombstone too: its creation may still be in flight.
  const insertDataTombstone = db.prepare(
    `INSERT INTO data_keys (tenant, purpose, id, live, sealed) VALUES (?, '', ?, 0, zeroblob(60))`,
  );
  const destroySigningKey = db.prepare(
    'UPDATE signing_keys SET live = 0, sealed = zeroblob(60) WHERE tenant = ? AND key_id = ?',
  );
  const destroyDataKey = db.prepare('UPDATE data_keys SET live = 0, sealed = zeroblob(60) WHERE tenant = ? AND id = ?');
  const destroyTenantKey = db.prepare('UPDATE tenant_keys SET live = 0, wrapped = zeroblob(64) WHERE tenant = ?');

  const readExpiring = db.prepare('SELECT * FROM remembered WHERE tenant = ? AND name = ?');
  const insertExpiring = db.prepare(
    'INSERT OR IGNORE INTO remembered (tenant, name, version, expires_at, sealed) VALUES (?, ?, ?, ?, ?)',
  );
  const updateExpiring = db.prepare(
    'UPDATE remembered SET version = ?, expires_at = ?, sealed = ? WHERE tenant = ? AND name = ? AND version = ?',
  );
  const deleteExpiring = db.prepare('DELETE FROM remembered WHERE tenant = ? AND name = ? AND version = ?');
  const deleteExpired = db.prepare(
    'DELETE FROM remembered WHERE rowid IN (SELECT rowid FROM remembered WHERE expires_at <= ? LIMIT ?)',
  );

  const checkpoint = db.prepare('SELECT position FROM key_checkpoints WHERE name = ?');
  const addCheckpoint = db.prepare('INSERT INTO key_checkpoints (name, position) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const setCheckpoint = db.prepare('UPDATE key_checkpoints SET position = ? WHERE name = ? AND position = ?');
  const truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  const { timeout: patience } = db.prepare('PRAGMA busy_timeout').get() as { timeout: number };

  const findTenantKey = (tenant: string): Found<WrappedKey> => {
    const row = tenantKey.get(tenant) as Row | undefined;
    if (!row) return { state: 'absent' };
    if (!row['live']) return { state: 'destroyed' };
    return { state: 'live', row: { id: tenant, wrapped: row['wrapped'] as Uint8Array } };
  };
  const wrapped = (row: Row, id: string): WrappedKey => ({
    id: row[id] as string,
    wrapped: row['wrapped'] as Uint8Array,
  });
  const addDataKey = ({ tenant, purpose, id, sealed, value }: DataKeyRow): void => {
    insertDataKey.run(tenant, purpose, id, sealed);
    if (value) insertValue.run(tenant, id, purpose, value);
  };
  const putSigningKeys = (rows: SigningKeyRow[]): void => {
    for (const r of rows)
      insertSigningKey.run(r.keyId, r.tenant, r.purpose, r.algorithm, r.publicJwk, r.createdAt, r.sealed);
  };

  return {
    tenantKey: { kind: 'read', execute: (tenant: string) => findTenantKey(tenant) },
    /** Keeps the first of two: concurrent creators get the same key. */
    putTenantKey: {
      kind: 'write',
      execute: (key: WrappedKey): Found<WrappedKey> => {
        const found = findTenantKey(key.id);
        if (found.state !== 'absent') return found;
        insertTenantKey.run(key.id, key.wrapped);
        return { state: 'live', row: key };
      },
    },
    wrappedKeys: {
      kind: 'read',
      execute: (): { tenantKeys: WrappedKey[]; peppers: WrappedKey[] } => ({
        tenantKeys: (wrappedTenantKeys.all() as Row[]).map((row) => wrapped(row, 'tenant')),
        peppers: (peppers.all() as Row[]).map((row) => wrapped(row, 'id')),
      }),
    },
    putPepper: {
      kind: 'write',
      execute: (pepper: WrappedKey): WrappedKey[] => {
        insertPepper.run(pepper.id, pepper.wrapped);
        return (peppers.all() as Row[]).map((row) => wrapped(row, 'id'));
      },
    },
    /** All or nothing; a row that another process rewrapped meanwhile is left alone. */
    rewrap: {
      kind: 'write',
      execute: (args: { tenantKeys: Rewrap[]; peppers: Rewrap[] }): void => {
        for (const k of args.tenantKeys) rewrapTenantKey.run(k.wrapped, k.id, k.before);
        for (const k of args.peppers) rewrapPepper.run(k.wrapped, k.id, k.before);
      },
    },

    putSigningKeys: {
      kind: 'write',
      execute: (args: { tenant: string; rows: SigningKeyRow[] }): 'made' | 'destroyed' => {
        if (tenantEnded.get(args.tenant)) return 'destroyed';
        putSigningKeys(args.rows);
        return 'made';
      },
    },
    ensureSigningKey: {
      kind: 'write',
      execute: (row: SigningKeyRow): Found<SigningKeyRow> => {
        if (tenantEnded.get(row.tenant)) return { state: 'destroyed' };
        const newest = newestSigningKey.get(row.tenant, row.purpose, row.algorithm) as Row | undefined;
        if (newest) return { state: 'live', row: signingKey(newest) };
        putSigningKeys([row]);
        return { state: 'live', row };
      },
    },
    signingKey: {
      kind: 'read',
      execute: (args: { tenant: string; keyId: string }): SigningKeyRow | undefined => {
        const row = signingKeyById.get(args.tenant, args.keyId) as Row | undefined;
        return row && signingKey(row);
      },
    },
    newestSigningKey: {
      kind: 'read',
      execute: (args: { tenant: string; purpose: string; algorithm: string }): SigningKeyRow | undefined => {
        const row = newestSigningKey.get(args.tenant, args.purpose, args.algorithm) as Row | undefined;
        return row && signingKey(row);
      },
    },
    signingKeys: {
      kind: 'read',
      execute: (args: { tenant: string; purpose: string }): SigningKeyRow[] =>
        (signingKeysByPurpose.all(args.tenant, args.purpose) as Row[]).map(signingKey),
    },

    putDataKey: {
      kind: 'write',
      execute: (key: DataKeyRow): Found<DataKeyRow> => {
        if (tenantEnded.get(key.tenant) || dataKeyEnded.get(key.tenant, key.id)) return { state: 'destroyed' };
        const row = dataKey.get(key.tenant, key.id, key.purpose) as Row | undefined;
        if (row) return { state: 'live', row: { ...key, sealed: row['sealed'] as Uint8Array }, created: false };
        addDataKey(key);
        return { state: 'live', row: key, created: true };
      },
    },
    putNewDataKey: {
      kind: 'write',
      execute: (key: DataKeyRow): void => {
        if (tenantEnded.get(key.tenant) || dataKeyEnded.get(key.tenant, key.id))
          throw fault('KeyDestroyed', `key ${key.id} was destroyed`);
        if (dataKey.get(key.tenant, key.id, key.purpose)) throw fault('KeyExists', `key ${key.id} exists`);
        addDataKey(key);
      },
    },
    dataKey: {
      kind: 'read',
      execute: (key: { tenant: string; purpose: string; id: string }): Found<DataKeyRow> => {
        if (tenantEnded.get(key.tenant) || dataKeyEnded.get(key.tenant, key.id)) return { state: 'destroyed' };
        const row = dataKey.get(key.tenant, key.id, key.purpose) as Row | undefined;
        return row ? { state: 'live', row: { ...key, sealed: row['sealed'] as Uint8Array } } : { state: 'absent' };
      },
    },
    storedValue: {
      kind: 'read',
      execute: (key: { tenant: string; purpose: string; id: string }): Found<{ value: Uint8Array }> => {
        if (tenantEnded.get(key.tenant) || dataKeyEnded.get(key.tenant, key.id)) return { state: 'destroyed' };
        const row = storedValue.get(key.tenant, key.id, key.purpose) as Row | undefined;
        return row ? { state: 'live', row: { value: row['value'] as Uint8Array } } : { state: 'absent' };
      },
    },

    destroy: {
      kind: 'write',
      execute: (args: { tenant: string; keyIds: string[] }): void => {
        for (const keyId of args.keyIds) {
          const signing = destroySigningKey.run(args.tenant, keyId).changes;
          const data = destroyDataKey.run(args.tenant, keyId).changes;
          if (!signing && !data) insertDataTombstone.run(args.tenant, keyId);
        }
      },
    },
    endTenant: {
      kind: 'write',
      execute: (tenant: string): void => {
        insertTenantTombstone.run(tenant);
        destroyTenantKey.run(tenant);
      },
    },
    destroyRows: {
      kind: 'write',
      execute: ({ tenant, table, after = '', limit }: KeyJobs['destroyRows'][0]): string | undefined => {
        const { name, statement } = DESTROY_ROWS[table];
        const rows = `tenant = ? AND ${name} > ?`;
        const last = db
          .prepare(`SELECT ${name} AS name FROM ${table} WHERE ${rows} ORDER BY ${name} LIMIT 1 OFFSET ?`)
          .get(tenant, after, limit - 1) as { name: string } | undefined;
        const portion = last ? `${rows} AND ${name} <= ?` : rows;
        db.prepare(`${statement} ${portion}`).run(tenant, after, ...(last ? [last.name] : []));
        return last?.name;
      },
    },
    /**
     * The overwritten pages are written to the file, and the log, which still contains the old ones, is truncated. A reader, such as a
     * backup, may need the log for minutes: it is not waited for.
     */
    scrub: {
      kind: 'exclusive',
      execute: (): boolean => {
        db.exec('PRAGMA busy_timeout = 0');
        try {
          return (truncate.get() as { busy: number }).busy === 0;
        } finally {
          db.exec(`PRAGMA busy_timeout = ${patience}`);
        }
      },
    },

    pageOfKeys: {
      kind: 'read',
      execute: ({
        table,
        after = '0',
        limit,
        tenantId,
      }: {
        table: KeyTable;
        after?: string;
        limit: number;
        tenantId?: string;
      }) => {
        const rows = db
          .prepare(
            `SELECT ${KEPT[table]} FROM ${table} WHERE seq > ? AND (? IS NULL OR tenant = ?) ORDER BY seq LIMIT ?`,
          )
          .all(Number(after), tenantId ?? null, tenantId ?? null, limit) as Row[];
        const next = rows.length === limit ? String(rows.at(-1)!['seq']) : undefined;
        return { rows: rows.map(storedKey), ...(next !== undefined && { next }) };
      },
    },
    findKeys: {
      kind: 'read',
      execute: ({ table, keys }: { table: KeyTable; keys: { tenantId: string; id: string }[] }) => {
        const find = db.prepare(`SELECT ${KEPT[table]} FROM ${table} WHERE tenant = ? AND ${ID[table]} = ?`);
        return keys.flatMap(({ tenantId, id }) => (find.all(tenantId, id) as Row[]).map(storedKey));
      },
    },
    keepKeys: {
      kind: 'write',
      execute: ({ table, add, destroy }: { table: KeyTable; add: StoredKey[]; destroy: StoredKey[] }): void => {
        const insert = db.prepare(`INSERT OR IGNORE INTO ${INSERT[table]}`);
        insert.setAllowUnknownNamedParameters(true);
        for (const { tenantId: tenant, live, ...row } of add) insert.run({ ...row, tenant, live: live ? 1 : 0 });
        for (const { tenantId, id } of destroy) {
          if (table === 'tenant_keys') destroyTenantKey.run(tenantId);
          else if (table === 'signing_keys') destroySigningKey.run(tenantId, id);
          else destroyDataKey.run(tenantId, id);
        }
      },
    },

    readExpiring: {
      kind: 'read',
      execute: (at: { tenant: string; name: string }): ExpiringRow | undefined => {
        const row = readExpiring.get(at.tenant, at.name) as Row | undefined;
        return (
          row && {
            ...at,
            version: row['version'] as string,
            expiresAt: row['expires_at'] as number,
            sealed: row['sealed'] as Uint8Array,
          }
        );
      },
    },
    writeExpiring: {
      kind: 'write',
      execute: ({ tenant, name, version, expiresAt, sealed, after }: ExpiringRow & { after?: string }): boolean =>
        (after === undefined
          ? insertExpiring.run(tenant, name, version, expiresAt, sealed)
          : updateExpiring.run(version, expiresAt, sealed, tenant, name, after)
        ).changes === 1,
    },
    deleteExpiring: {
      kind: 'write',
      execute: (at: { tenant: string; name: string; version: string }): void => {
        deleteExpiring.run(at.tenant, at.name, at.version);
      },
    },
    deleteExpired: {
      kind: 'write',
      execute: ({ now, limit }: KeyJobs['deleteExpired'][0]): boolean =>
        deleteExpired.run(now, limit).changes === limit,
    },

    checkpoint: {
      kind: 'read',
      execute: (name: string): string | undefined =>
        (checkpoint.get(name) as { position: string } | undefined)?.position,
    },
    setCheckpoint: {
      kind: 'write',
      execute: ({
        name,
        position,
        previous,
      }: {
        name: string;
        position: string;
        previous: string | undefined;
      }): boolean =>
        (previous === undefined ? addCheckpoint.run(name, position) : setCheckpoint.run(position, name, previous))
          .changes === 1,
    },
  };
};
