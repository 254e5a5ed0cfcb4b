import type { Database, Jobs } from '@attestry/sqlite';
import type { KeyJobs, TenantTable } from '../stored/key-store.js';

/** How the rows of an ended tenant are destroyed, by their names; destroyed ones are not written again. */
const DESTROY_ROWS: Record<TenantTable, { name: string; statement: string }> = {
  sealed_values: { name: 'id', statement: 'DELETE FROM sealed_values WHERE' },
  signing_keys: {
    name: 'key_id',
    statement: 'UPDATE signing_keys SET live = 0, sealed = zeroblob(60) WHERE live = 1 AND',
  },
  data_keys: { name: 'id', statement: 'UPDATE data_keys SET live = 0, sealed = zeroblob(60) WHERE live = 1 AND' },
  expiring_state: { name: 'name', statement: 'DELETE FROM expiring_state WHERE' },
};

/** Ends keys, and all that a tenant has. */
export const createJobs = (db: Database): Jobs => {
  const insertTenantTombstone = db.prepare(
    'INSERT OR IGNORE INTO tenant_keys (tenant, live, wrapped) VALUES (?, 0, zeroblob(64))',
  );
  // An absent key gets its tombstone too: its creation may still be in flight.
  const insertDataTombstone = db.prepare(
    `INSERT INTO data_keys (tenant, purpose, id, live, sealed) VALUES (?, '', ?, 0, zeroblob(60))`,
  );
  const destroyTenantKey = db.prepare('UPDATE tenant_keys SET live = 0, wrapped = zeroblob(64) WHERE tenant = ?');
  const destroySigningKey = db.prepare(
    'UPDATE signing_keys SET live = 0, sealed = zeroblob(60) WHERE tenant = ? AND key_id = ?',
  );
  const destroyDataKey = db.prepare('UPDATE data_keys SET live = 0, sealed = zeroblob(60) WHERE tenant = ? AND id = ?');
  const truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  const { timeout: patience } = db.prepare('PRAGMA busy_timeout').get() as { timeout: number };

  return {
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
  };
};
