import type { KeyStore, Rewrap, WrappedKey } from './key-store.js';
import { versionOf, type MasterKeys, type WrappedKind } from './master-keys.js';

export interface WrappedKeys {
  tenantKeys: WrappedKey[];
  peppers: WrappedKey[];
}

/**
 * Rewraps keys of an earlier version of MASTER_KEY with the current one. Keys of a later version are left alone: a rotation is in progress,
 * and this process does not know its new key yet.
 *
 * @throws MasterKeyMismatch when a needed version is not given
 */
export const rewrapKeys = async (
  store: KeyStore,
  masterKeys: MasterKeys,
  stored: WrappedKeys,
): Promise<{ tenantKeys: number; peppers: number }> => {
  const rewrap = (kind: WrappedKind, keys: readonly WrappedKey[]): Rewrap[] => {
    for (const key of keys) masterKeys.mustKnow(kind, key);
    return keys
      .filter(({ wrapped }) => versionOf(wrapped) < masterKeys.current)
      .map((key) => ({ ...masterKeys.wrap(kind, key.id, masterKeys.unwrap(kind, key)), before: key.wrapped }));
  };
  const changes = { tenantKeys: rewrap('tenant-key', stored.tenantKeys), peppers: rewrap('pepper', stored.peppers) };
  if (changes.tenantKeys.length || changes.peppers.length) await store.call('rewrap', changes);
  return { tenantKeys: changes.tenantKeys.length, peppers: changes.peppers.length };
};
