import { SqliteThread, moduleBeside } from '@attestry/sqlite';
import type { KeyStore } from '../key-store.js';
import { StoredKeyVault, type StoredKeyVaultOptions } from '../stored-key-vault.js';

export interface EmbeddedKeyVaultOptions extends Omit<StoredKeyVaultOptions, 'believeMs'> {
  /** Path of the key database. */
  file: string;
  /** Called when the file's thread dies; every later call that needs the file rejects. */
  onFailure?: (error: Error) => void;
}

export const openKeyFile = async (file: string, onFailure?: (error: Error) => void): Promise<KeyStore> => {
  const thread = await SqliteThread.spawn({
    file,
    jobs: moduleBeside(import.meta.url, './key-file.jobs'),
    pragmas: ['secure_delete = ON'],
    onFailure,
  });
  return Object.assign(thread, { engine: thread, newKeyJob: 'putNewDataKey' });
};

/** KeyVault on one SQLite file, whose thread handles only sealed keys. */
export class EmbeddedKeyVault {
  /** @throws MasterKeyMismatch when the file was sealed with another master key, or with a version that is not given */
  static openFile({ file, onFailure, ...options }: EmbeddedKeyVaultOptions): Promise<StoredKeyVault> {
    return StoredKeyVault.load(() => openKeyFile(file, onFailure), options);
  }
}
