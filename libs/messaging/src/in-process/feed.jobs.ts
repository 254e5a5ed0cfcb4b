import type { Database, Jobs } from '@attestry/sqlite';
import type { FeedRecord } from '../consumer-feed.js';

/** True when a subject is one of `patterns`, which are exact or prefixes ending in `.>`. */
export const subjectMatcher = (patterns: readonly string[]): ((subject: string) => boolean) => {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('.>')));
  const prefixes = patterns.filter((pattern) => pattern.endsWith('.>')).map((pattern) => pattern.slice(0, -1));
  return (subject) => exact.has(subject) || prefixes.some((prefix) => subject.startsWith(prefix));
};

/** Rows per read, so that a consumer of a rare subject does not block the thread. */
const SCAN = 4096;

interface MessageRow {
  sequence: number;
  id: string;
  subject: string;
  body: string;
}
const record = (row: MessageRow): FeedRecord => [row.sequence, row.id, row.subject, row.body];

/**
 * The schema and jobs of `feed.db`. A sequence is never assigned twice: pruning keeps the newest message, and a new file that replaces a
 * lost one begins at the time in microseconds (below 2^53), above all that consumers have seen.
 */
export const createJobs = (db: Database): Jobs => {
  db.exec(`
    CREATE TABLE IF NOT EXISTS message (
      sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, subject TEXT NOT NULL, body TEXT NOT NULL, published_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS consumer (name TEXT PRIMARY KEY, acknowledged INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `);
  const insert = db.prepare(
    `INSERT INTO message (sequence, id, subject, body, published_at)
     VALUES (iif(EXISTS (SELECT 1 FROM message), NULL, ?), ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  );
  const scan = db.prepare(
    'SELECT sequence, id, subject, body FROM message WHERE sequence > ? ORDER BY sequence LIMIT ?',
  );
  const head = db.prepare('SELECT coalesce(max(sequence), 0) AS head FROM message');
  const register = db.prepare('INSERT INTO consumer (name, acknowledged) VALUES (?, ?) ON CONFLICT (name) DO NOTHING');
  const find = db.prepare('SELECT acknowledged FROM consumer WHERE name = ?');
  const checkpoint = db.prepare('UPDATE consumer SET acknowledged = max(acknowledged, ?) WHERE name = ?');
  // At most 4,096 rows at once: after a long pause the backlog is deleted in several steps and no publish waits for all of it.
  const prune = db.prepare(
    `DELETE FROM message WHERE sequence < (SELECT min(sequence) + 4096 FROM message) AND sequence < (SELECT max(sequence) FROM message)
     AND sequence <= (SELECT coalesce(min(acknowledged), 9007199254740991) FROM consumer)
     AND (published_at < ? OR sequence <= (SELECT max(sequence) FROM message) - ?)`,
  );
  const headNow = (): number => (head.get() as { head: number }).head;

  return {
    /** Returns the sequence of each message, 0 for one that is stored already. */
    publish: {
      kind: 'write',
      execute: ({ messages, now }: { messages: [string, string, string][]; now: number }): number[] => {
        const sequences: number[] = [];
        for (const [id, subject, body] of messages) {
          const { changes, lastInsertRowid } = insert.run(now * 1000, id, subject, body, now);
          sequences.push(changes ? Number(lastInsertRowid) : 0);
        }
        return sequences;
      },
    },
    open: {
      kind: 'write',
      execute: ({ name, start }: { name: string; start: 'first' | 'new' }): number => {
        register.run(name, start === 'new' ? headNow() : 0);
        return (find.get(name) as { acknowledged: number }).acknowledged;
      },
    },
    checkpoint: {
      kind: 'write',
      execute: (entries: [string, number][]) => {
        for (const [name, sequence] of entries) checkpoint.run(sequence, name);
      },
    },
    read: {
      kind: 'read',
      execute: ({ after, subjects, limit }: { after: number; subjects: string[]; limit: number }) => {
        const matches = subjectMatcher(subjects);
        const records: FeedRecord[] = [];
        let scanned = after;
        for (const row of scan.iterate(after, SCAN) as Iterable<MessageRow>) {
          scanned = row.sequence;
          if (matches(row.subject)) records.push(record(row));
          if (records.length === limit) break;
        }
        return { records, scanned };
      },
    },
    prune: {
      kind: 'write',
      execute: ({ before, keep }: { before: number; keep: number }) => Number(prune.run(before, keep).changes),
    },
    head: { kind: 'read', execute: headNow },
  };
};
