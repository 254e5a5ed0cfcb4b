import { SqliteThread, moduleBeside } from '@attestry/sqlite';
import type { KeyStorage } from '../key-storage.js';
import { MasterKeys, type MasterKeyOptions } from '../master-keys.js';
import { SealingKeyVault } from '../sealing-key-vault.js';

export interface EmbeddedKeyVaultOptions {
  /** Path of the key database. */
  file: string;
  /** Tenant keys and peppers wrapped by an older version are rewrapped by the current one when the vault opens. */
  masterKeys: MasterKeyOptions;
  /** Called when the file's thread dies; every later call that needs the file rejects. */
  onFailure?: (error: Error) => void;
  /** Stamps `createdAt`. */
  clock?: () => Date;
}

/** The methods of a storage, each a job of key-file.jobs.ts. */
const keyFile = (thread: SqliteThread): KeyStorage => ({
  tenantKey: (tenant) => thread.call('tenantKey', tenant),
  putTenantKey: (key) => thread.call('putTenantKey', key),
  wrappedKeys: () => thread.call('wrappedKeys'),
  putPepper: (pepper) => thread.call('putPepper', pepper),
  rewrap: (changes) => thread.call('rewrap', changes),
  putSigningKeys: (args) => thread.call('putSigningKeys', args),
  ensureSigningKey: (key) => thread.call('ensureSigningKey', key),
  signingKey: (args) => thread.call('signingKey', args),
  newestSigningKey: (args) => thread.call('newestSigningKey', args),
  signingKeys: (args) => thread.call('signingKeys', args),
  putDataKey: (key) => thread.call('putDataKey', key),
  dataKey: (key) => thread.call('dataKey', key),
  destroy: (args) => thread.call('destroy', args),
  destroyTenant: (tenant) => thread.call('destroyTenant', tenant),
  scrub: () => thread.call('scrub'),
  checkpoint: (name) => thread.call('checkpoint', name),
  setCheckpoint: (args) => thread.call('setCheckpoint', args),
  close: () => thread.close(),
});

/** KeyVault on one SQLite file. The file's thread only sees sealed keys. */
export class EmbeddedKeyVault extends SealingKeyVault {
  /** @throws MasterKeyMismatch when the file was sealed with another master key, or with a version that is not given */
  static async open(options: EmbeddedKeyVaultOptions): Promise<EmbeddedKeyVault> {
    const masterKeys = new MasterKeys(options.masterKeys);
    const thread = await SqliteThread.open({
      file: options.file,
      jobs: moduleBeside(import.meta.url, './key-file.jobs'),
      pragmas: ['secure_delete = ON'],
      onFailure: options.onFailure,
    });
    const vault = new EmbeddedKeyVault(keyFile(thread), masterKeys, options.clock ?? (() => new Date()));
    await vault.start();
    return vault;
  }
}
