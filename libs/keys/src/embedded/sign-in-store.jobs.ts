import type { Database, Jobs } from '@attestry/sqlite';

/** Digests are SHA-256: the file does not contain bearer values. Times are milliseconds since 1970. */
export interface PutJob {
  digest: Uint8Array;
  alias: Uint8Array | null;
  groupDigest: Uint8Array | null;
  sealed: string;
  expiresAt: number;
  now: number;
}
export interface KeyJob {
  digest: Uint8Array;
  now: number;
}
export interface AttemptJob extends KeyJob {
  windowMs: number;
}
export interface FoundRecord {
  sealed: string;
  spentAt: number | null;
}

/** Every write deletes this many expired rows: more than were added, so the backlog only shrinks, and there is no timer. */
const SWEEP_AT_MOST = 16;

export const createJobs = (db: Database): Jobs => {
  db.exec(`
    CREATE TABLE IF NOT EXISTS records (
      digest BLOB PRIMARY KEY, alias BLOB, group_digest BLOB, sealed TEXT NOT NULL, spent_at INTEGER, expires_at INTEGER NOT NULL
    );
    CREATE INDEX IF NOT EXISTS records_by_alias ON records (alias) WHERE alias IS NOT NULL;
    CREATE INDEX IF NOT EXISTS records_by_group ON records (group_digest) WHERE group_digest IS NOT NULL;
    CREATE INDEX IF NOT EXISTS records_by_expiry ON records (expires_at);
    CREATE TABLE IF NOT EXISTS attempts (digest BLOB PRIMARY KEY, used INTEGER NOT NULL, ends_at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS attempts_by_end ON attempts (ends_at);
  `);
  const put = db.prepare(
    `INSERT INTO records (digest, alias, group_digest, sealed, spent_at, expires_at) VALUES (?, ?, ?, ?, NULL, ?)
     ON CONFLICT (digest) DO UPDATE SET alias = excluded.alias, group_digest = excluded.group_digest,
       sealed = excluded.sealed, expires_at = excluded.expires_at,
       spent_at = CASE WHEN records.expires_at > ? THEN records.spent_at END`,
  );
  const columns = 'sealed, spent_at AS spentAt';
  const get = db.prepare(`SELECT ${columns} FROM records WHERE digest = ? AND expires_at > ?`);
  const getByAlias = db.prepare(`SELECT ${columns} FROM records WHERE alias = ? AND expires_at > ?`);
  const spend = db.prepare('UPDATE records SET spent_at = ? WHERE digest = ? AND spent_at IS NULL AND expires_at > ?');
  const remove = db.prepare('DELETE FROM records WHERE digest = ?');
  const removeGroup = db.prepare('DELETE FROM records WHERE group_digest = ?');
  const attempt = db.prepare(
    `INSERT INTO attempts (digest, used, ends_at) VALUES (?, 1, ?)
     ON CONFLICT (digest) DO UPDATE SET used = CASE WHEN ends_at > ? THEN used + 1 ELSE 1 END,
       ends_at = CASE WHEN ends_at > ? THEN ends_at ELSE excluded.ends_at END
     RETURNING used, ends_at AS endsAt`,
  );
  const takeBackAttempt = db.prepare(
    'UPDATE attempts SET used = used - 1 WHERE digest = ? AND used > 0 AND ends_at > ?',
  );
  const sweepRecords = db.prepare(
    `DELETE FROM records WHERE digest IN (SELECT digest FROM records WHERE expires_at <= ? LIMIT ${SWEEP_AT_MOST})`,
  );
  const sweepAttempts = db.prepare(
    `DELETE FROM attempts WHERE digest IN (SELECT digest FROM attempts WHERE ends_at <= ? LIMIT ${SWEEP_AT_MOST})`,
  );
  const count = db.prepare('SELECT (SELECT count(*) FROM records) + (SELECT count(*) FROM attempts) AS count');

  return {
    put: {
      kind: 'write',
      execute: ({ digest, alias, groupDigest, sealed, expiresAt, now }: PutJob): void => {
        put.run(digest, alias, groupDigest, sealed, expiresAt, now);
        sweepRecords.run(now);
      },
    },
    get: { kind: 'read', execute: ({ digest, now }: KeyJob): unknown => get.get(digest, now) },
    getByAlias: { kind: 'read', execute: ({ digest, now }: KeyJob): unknown => getByAlias.get(digest, now) },
    spend: { kind: 'write', execute: ({ digest, now }: KeyJob): boolean => spend.run(now, digest, now).changes === 1 },
    remove: { kind: 'write', execute: ({ digest }: KeyJob): void => void remove.run(digest) },
    removeGroup: { kind: 'write', execute: ({ digest }: KeyJob): void => void removeGroup.run(digest) },
    attempt: {
      kind: 'write',
      execute: ({ digest, now, windowMs }: AttemptJob): unknown => {
        sweepAttempts.run(now);
        return attempt.get(digest, now + windowMs, now, now);
      },
    },
    takeBackAttempt: {
      kind: 'write',
      execute: ({ digest, now }: KeyJob): void => void takeBackAttempt.run(digest, now),
    },
    count: { kind: 'read', execute: (): number => (count.get() as { count: number }).count },
  };
};
