import type { KeyStore } from '../stored/key-store.js';

/** Store of keys: a SQLite file, or a schema of PostgreSQL that was migrated. */
export type KeyLocation = { file: string } | { url: string; schema: string };

/** The sealed keys without a vault over them. @throws NotMigrated */
export const openKeyStore = async (location: KeyLocation): Promise<KeyStore> => {
  if ('file' in location) {
    const { openKeyFile } = await import('../embedded/embedded-key-vault.js');
    return openKeyFile(location.file);
  }
  const { PostgresKeyStore } = await import('../postgres/postgres-key-store.js');
  return PostgresKeyStore.connect({ ...location, connections: 2, timeoutMs: 60_000, onFailure: () => undefined });
};
