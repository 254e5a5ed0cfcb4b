import type { KeyVault } from '../key-vault.js';
import type { PostgresKeyVaultOptions } from './postgres-key-vault.js';

// The client is loaded by those who use it: the embedded platform does not wait for it when it starts.

/**
 * The key vault in a schema of PostgreSQL, for several processes.
 * @throws Error when it was not migrated; MasterKeyMismatch
 */
export const openPostgresKeyVault = async (options: PostgresKeyVaultOptions): Promise<KeyVault> => {
  const { PostgresKeyVault } = await import('./postgres-key-vault.js');
  return PostgresKeyVault.open(options);
};

/** Makes the key tables, or adds what this release needs. */
export const migratePostgresKeys = async (options: {
  url: string;
  schema: string;
  serviceRole?: string;
}): Promise<void> => {
  const [{ KEY_TABLES }, { migrateSchema }] = await Promise.all([import('./schema.js'), import('@attestry/postgres')]);
  await migrateSchema(options, KEY_TABLES);
};
