import type { Database, Jobs } from '@attestry/sqlite';
import type { Spend } from '../vault/single-use.js';

export interface SpendAll {
  spends: readonly Spend[];
  now: number;
}

/** First bytes of a digest, which are stored. */
const STORED_BYTES = 16;

/** This many spends delete expired rows, more at a time than were added: no timer, and the backlog only shrinks. */
const PRUNE_EVERY = 512;
const PRUNE_AT_MOST = 2048;

export const createJobs = (db: Database): Jobs => {
  db.exec(`
    CREATE TABLE IF NOT EXISTS spent (digest BLOB PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS spent_by_expiry ON spent (expires_at);
    CREATE TABLE IF NOT EXISTS horizon (one INTEGER PRIMARY KEY CHECK (one = 1), expires_at INTEGER NOT NULL);
  `);
  const isSpent = db.prepare('SELECT 1 FROM spent WHERE digest = ? AND expires_at > ?');
  const spend = db.prepare('INSERT OR REPLACE INTO spent (digest, expires_at) VALUES (?, ?)');
  const lastToPrune = db.prepare(
    `SELECT max(expires_at) AS expiresAt, count(*) AS count
     FROM (SELECT expires_at FROM spent WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
  );
  const prune = db.prepare('DELETE FROM spent WHERE expires_at <= ?');
  const setHorizon = db.prepare(
    `INSERT INTO horizon (one, expires_at) VALUES (1, ?)
     ON CONFLICT (one) DO UPDATE SET expires_at = max(expires_at, excluded.expires_at)`,
  );
  const readHorizon = db.prepare('SELECT expires_at AS expiresAt FROM horizon WHERE one = 1');
  const count = db.prepare('SELECT count(*) AS count FROM spent');

  let untilPrune = 0;

  const requireSpend = ({ spends, now }: SpendAll): void => {
    untilPrune -= spends.length;
    if (untilPrune < 0) {
      untilPrune = PRUNE_EVERY;
      const last = lastToPrune.get(now, PRUNE_AT_MOST) as { expiresAt: number | null };
      if (last.expiresAt !== null) {
        prune.run(last.expiresAt);
        setHorizon.run(last.expiresAt);
      }
    }
    // Rows up to the horizon are deleted: if the clock was set back, their values must not become valid again.
    const horizon = (readHorizon.get() as { expiresAt: number } | undefined)?.expiresAt ?? 0;
    const rows: [Buffer, number][] = [];
    for (const { digest, expiresAt } of spends) {
      const stored = Buffer.from(digest, 'base64url').subarray(0, STORED_BYTES);
      if (expiresAt <= horizon || isSpent.get(stored, now))
        throw Object.assign(new Error('a value is spent'), { code: 'AlreadySpent' });
      rows.push([stored, expiresAt]);
    }
    for (const row of rows) spend.run(...row);
  };

  return {
    spendAll: {
      kind: 'write',
      execute: (values: SpendAll): boolean => {
        try {
          requireSpend(values);
          return true;
        } catch (error) {
          if ((error as { code?: unknown }).code !== 'AlreadySpent') throw error;
          return false;
        }
      },
    },
    /** Part of a transaction, which a spent value undoes. */
    requireSpend: { kind: 'write', execute: requireSpend },
    count: { kind: 'read', execute: (): number => (count.get() as { count: number }).count },
  };
};
