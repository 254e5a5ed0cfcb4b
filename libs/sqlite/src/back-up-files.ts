import { chmodSync, closeSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';

export interface FileBackup {
  from: string;
  /** Must not exist. */
  to: string;
}

/** How long a write in progress may take, milliseconds. */
const PATIENCE_MS = 5000;

/**
 * Copies a consistent state of several SQLite files, also while they are written: for a moment the writers of all are blocked, and each
 * file's state is pinned by a reader; then writes continue and the pinned states are copied.
 *
 * @returns how long writers were blocked, milliseconds
 */
export const backUpFiles = async (files: readonly FileBackup[]): Promise<{ heldMs: number }> => {
  const opened: DatabaseSync[] = [];
  const openFile = (file: string, readOnly: boolean) => {
    const db = new DatabaseSync(file, { readOnly, timeout: PATIENCE_MS });
    opened.push(db);
    return db;
  };
  try {
    const writers = files.map(({ from }) => openFile(from, false));
    const readers = files.map(({ from }) => openFile(from, true));
    const begun = performance.now();
    for (const writer of writers) writer.exec('BEGIN IMMEDIATE');
    for (const reader of readers) {
      reader.exec('BEGIN');
      // Only the first read takes the snapshot.
      reader.prepare('SELECT count(*) FROM sqlite_schema').get();
    }
    for (const writer of writers) writer.exec('ROLLBACK');
    const heldMs = Math.round(performance.now() - begun);
    for (const [at, { to }] of files.entries()) {
      closeSync(openSync(to, 'wx', 0o600));
      await backup(readers[at]!, to, { rate: 4096 });
      chmodSync(to, 0o600);
    }
    return { heldMs };
  } finally {
    for (const db of opened) db.close();
  }
};
