import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { requireReleasedFolder } from './file-format.js';

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

/** The folder, or the nearest one above it that exists. */
const nearestExisting = (folder: string): string => {
  let existing = resolve(folder);
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  return existing;
};

/** Types of the kernel's file systems: procfs and sysfs. */
const VIRTUAL_FILE_SYSTEMS = [0x9fa0, 0x62656572];

/** Linux says of everything below /proc that its parent does not exist, so that `mkdir` with `recursive` would try for ever. */
const refuseVirtual = (existing: string): void => {
  if (VIRTUAL_FILE_SYSTEMS.includes(statfsSync(existing).type))
    throw new Error(`${existing} holds no files of programs`);
};

/**
 * Whether the folder can be written, or made, and its data be read; creates nothing. For a process that has no file of the folder open.
 * @throws DataFolderUnusable, UnreleasedData
 */
export const checkDataFolder = (folder: string): void => {
  const existing = nearestExisting(folder);
  try {
    if (!statSync(existing).isDirectory()) throw new Error(`${existing} is not a folder`);
    accessSync(existing, constants.W_OK | constants.X_OK);
    refuseVirtual(existing);
  } catch (error) {
    throw new DataFolderUnusable(`${folder} cannot be used: ${(error as Error).message}`, { cause: error });
  }
  if (existing === resolve(folder)) requireReleasedFolder(folder);
};

export interface DataFolderLock {
  release(): void;
}

/**
 * Locks a data folder for this process until it is released or the process ends, however it ends: the lock is the operating system's, held
 * through an open exclusive transaction on `lock.db`, so that a killed process leaves none.
 * Creates the folder if missing.
 * @throws DataFolderLocked, DataFolderUnusable, UnreleasedData
 */
export async function lockDataFolder(folder: string): Promise<DataFolderLock> {
  try {
    refuseVirtual(nearestExisting(folder));
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
  try {
    requireReleasedFolder(folder);
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    release() {
      if (db.isOpen) db.close();
    },
  };
}
