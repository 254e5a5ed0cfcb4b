import { SqliteThread, moduleBeside, type JobsSource } from '@attestry/sqlite';
import type { KeyStore } from '../stored/key-store.js';
import { StoredKeyVault, type StoredKeyVaultOptions } from '../stored/stored-key-vault.js';

export interface EmbeddedKeyVaultOptions extends Omit<StoredKeyVaultOptions, 'believeMs'> {
  /** Path of the file with the keys. */
  file: string;
  /** Called when the file's thread dies; every later call that needs the file rejects. */
  onFailure?: (error: Error) => void;
}

/** For a thread with the jobs of {@link EmbeddedKeyVault}: what is overwritten or deleted leaves no copy in the file. */
export const KEY_PRAGMAS = ['secure_delete = ON'];

const JOBS = [
  'key-schema',
  'tenant-key',
  'signing-key',
  'data-key',
  'destruction',
  'kept-key',
  'expiring',
  'key-checkpoint',
].map((name) => moduleBeside(import.meta.url, `./${name}.jobs`));

const storeOn = (thread: SqliteThread, close: () => Promise<void>): KeyStore => ({
  engine: thread,
  newKeyJob: 'putNewDataKey',
  call: thread.call.bind(thread),
  close,
});

export const openKeyFile = async (file: string, onFailure?: (error: Error) => void): Promise<KeyStore> => {
  const thread = await SqliteThread.spawn({ file, jobs: JOBS, pragmas: KEY_PRAGMAS, onFailure });
  return storeOn(thread, () => thread.close());
};

/** KeyVault on one SQLite file, whose thread handles only sealed keys. */
export class EmbeddedKeyVault {
  /** @throws MasterKeyMismatch when the file was sealed with another master key, or with a version that is not given */
  static openFile({ file, onFailure, ...options }: EmbeddedKeyVaultOptions): Promise<StoredKeyVault> {
    return StoredKeyVault.load(() => openKeyFile(file, onFailure), options);
  }

  /** The jobs of a thread for {@link onThread}. */
  static readonly jobs: JobsSource = { jobs: JOBS };

  /** On a thread that others use too, and that the caller closes afterwards. @throws MasterKeyMismatch, as {@link openFile} */
  static onThread(thread: SqliteThread, options: StoredKeyVaultOptions): Promise<StoredKeyVault> {
    return StoredKeyVault.load(async () => storeOn(thread, async () => undefined), options);
  }
}
