export {
  SqliteThread,
  SqliteError,
  moduleBeside,
  type JobCall,
  type JobsSource,
  type SqliteOptions,
} from './sqlite-thread.js';
export type { Job, Jobs, JobsModule, Database, Statement } from './jobs.js';
export { checkDataFolder, lockDataFolder, DataFolderLocked, type DataFolderLock } from './data-folder-lock.js';
export { UnreleasedData } from './file-format.js';
export { backUpFiles, type FileBackup } from './back-up-files.js';
