import type { KeyStore } from './key-store.js';

/** Store of keys: a SQLite file, or a schema of PostgreSQL that was migrated. */
export type KeyPlace = { file: string } | { url: string; schema: string };

/** The sealed keys without a vault over them. @throws NotMigrated */
export const openKeyPlace = async (place: KeyPlace): Promise<KeyStore> => {
  if ('file' in place) {
    const { openKeyFile } = await import('./embedded/embedded-key-vault.js');
    return openKeyFile(place.file);
  }
  const { PostgresKeyStore } = await import('./postgres/postgres-key-store.js');
  return PostgresKeyStore.open({ ...place, connections: 2, timeoutMs: 60_000, onFailure: () => undefined });
};
