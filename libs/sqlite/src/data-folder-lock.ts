import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The data folder cannot be made: a file has its path, or its parent cannot be written. */
export class DataFolderUnusable extends Error {
  override readonly name = 'DataFolderUnusable';
  readonly code = 'DataFolderUnusable';
}

/** Another process, or another owner in this one, holds the data folder. */
export class DataFolderLocked extends Error {
  override readonly name = 'DataFolderLocked';
  readonly code = 'DataFolderLocked';
}

/** The error with the file in its message, which SQLite does not name. */
export const namingFile = (error: Error, file: string): Error => {
  if (!error.message.includes(file)) error.message = `${file}: ${error.message}`;
  return error;
};

export interface DataFolderLock {
  release(): void;
}

/**
 * Locks a data folder for this process until it is released or the process ends, however it ends: the lock is the operating system's, held
 * through an open exclusive transaction on `lock.db`, so that a killed process leaves none.
 * Creates the folder if missing.
 * @throws DataFolderLocked, DataFolderUnusable
 */
export async function lockDataFolder(folder: string): Promise<DataFolderLock> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new DataFolderUnusable(`${folder} cannot be made: ${(error as Error).message}`, { cause: error });
  }
  const file = join(folder, 'lock.db');
  // Only when absent: closing a file drops the process's locks on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    // 5 is SQLITE_BUSY
    if ((error as { errcode?: number }).errcode !== 5) throw namingFile(error as Error, file);
    throw new DataFolderLocked(`${folder} is in use by another process`, { cause: error });
  }
  return {
    release() {
      if (db.isOpen) db.close();
    },
  };
}
