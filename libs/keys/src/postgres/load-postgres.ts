import type { Migrations } from '@attestry/postgres';
import type { KeyVault } from '../vault/key-vault.js';
import type { PostgresKeyVaultOptions } from './postgres-key-store.js';

// Loaded on demand: the embedded platform does not load the client.

/** KeyVault in a schema of PostgreSQL, which several processes share. @throws NotMigrated, MasterKeyMismatch */
export const openPostgresKeyVault = async (options: PostgresKeyVaultOptions): Promise<KeyVault> => {
  const [{ PostgresKeyStore }, { StoredKeyVault }] = await Promise.all([
    import('./postgres-key-store.js'),
    import('../stored/stored-key-vault.js'),
  ]);
  const { masterKeys, clock, believeMs = 30_000, ...database } = options;
  return StoredKeyVault.load(() => PostgresKeyStore.connect(database), {
    masterKeys,
    believeMs,
    ...(clock && { clock }),
  });
};

/** Creates the tables of keys, or adds what this release needs. */
export const migratePostgresKeys = async (options: {
  url: string;
  schema: string;
  serviceRole?: string;
}): Promise<void> => {
  const [{ KEY_TABLES }, { migrateSchema }] = await Promise.all([import('./schema.js'), import('@attestry/postgres')]);
  await migrateSchema(options, KEY_TABLES);
};

/** The component of a schema, as {@link migratePostgresKeys} creates it. */
export const loadKeyTables = async (): Promise<Migrations[]> => {
  const { KEY_TABLES } = await import('./schema.js');
  return [KEY_TABLES];
};
