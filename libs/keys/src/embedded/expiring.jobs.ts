import type { Database, Jobs } from '@attestry/sqlite';
import type { ExpiringRow, KeyJobs } from '../stored/key-store.js';
import type { Row } from './key-row.js';

/** Sealed values with a time to live. */
export const createJobs = (db: Database): Jobs => {
  const readExpiring = db.prepare('SELECT * FROM expiring_state WHERE tenant = ? AND name = ?');
  const insertExpiring = db.prepare(
    'INSERT OR IGNORE INTO expiring_state (tenant, name, version, expires_at, sealed) VALUES (?, ?, ?, ?, ?)',
  );
  const updateExpiring = db.prepare(
    'UPDATE expiring_state SET version = ?, expires_at = ?, sealed = ? WHERE tenant = ? AND name = ? AND version = ?',
  );
  const deleteExpiring = db.prepare('DELETE FROM expiring_state WHERE tenant = ? AND name = ? AND version = ?');
  const deleteExpired = db.prepare(
    'DELETE FROM expiring_state WHERE rowid IN (SELECT rowid FROM expiring_state WHERE expires_at <= ? LIMIT ?)',
  );

  return {
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
  };
};
