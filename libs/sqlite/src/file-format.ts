import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

/** "ATST" in the header of each file that a release made (SQLite, Database File Format, section 1.3). Permanent. */
export const APPLICATION_ID = 0x41545354;

/** Data of a version before the first release, which no release reads. */
export class UnreleasedData extends Error {
  override readonly name = 'UnreleasedData';
  readonly code = 'UnreleasedData';
  constructor(where: string) {
    super(`${where} has data of version 0.1.0`);
  }
}

const MAGIC = 'SQLite format 3\0';
const ID_AT = 68;

/**
 * Reads headers only, so that not even a log is made. Under the folder's lock alone: closing a file drops this process's locks on it.
 * @throws UnreleasedData when the folder has a file that no release made
 */
export const requireReleasedFolder = (folder: string): void => {
  const header = Buffer.alloc(ID_AT + 4);
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.db') || name === 'lock.db') continue;
    const descriptor = openSync(join(folder, name), 'r');
    const length = readSync(descriptor, header, 0, header.length, 0);
    closeSync(descriptor);
    // A shorter file is one whose creation was interrupted; what is no database is an error when it is opened.
    const isDatabase = length === header.length && header.toString('latin1', 0, MAGIC.length) === MAGIC;
    if (isDatabase && header.readUInt32BE(ID_AT) !== APPLICATION_ID) throw new UnreleasedData(folder);
  }
};

/**
 * Marks a new file. Call it before WAL is set: the file itself then has the mark from its first page on, and not only its log.
 * @throws UnreleasedData when no release made the file
 */
export const markReleasedFile = (db: DatabaseSync, file: string): void => {
  const { application_id: id } = db.prepare('PRAGMA application_id').get() as { application_id: number };
  if (id === APPLICATION_ID) return;
  const { count } = db.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as { count: number };
  if (id !== 0 || count > 0) throw new UnreleasedData(file);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
};
