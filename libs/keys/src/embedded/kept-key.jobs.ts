import type { Database, Jobs } from '@attestry/sqlite';
import type { KeyTable, StoredKey } from '../stored/key-store.js';
import type { Row } from './key-row.js';

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

/** Keys as they are stored, for copies on another engine. */
export const createJobs = (db: Database): Jobs => {
  const destroyTenantKey = db.prepare('UPDATE tenant_keys SET live = 0, wrapped = zeroblob(64) WHERE tenant = ?');
  const destroySigningKey = db.prepare(
    'UPDATE signing_keys SET live = 0, sealed = zeroblob(60) WHERE tenant = ? AND key_id = ?',
  );
  const destroyDataKey = db.prepare('UPDATE data_keys SET live = 0, sealed = zeroblob(60) WHERE tenant = ? AND id = ?');

  return {
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
  };
};
