import type { KeyStore } from '../stored/key-store.js';
import { openKeyStore, type KeyLocation } from './key-location.js';
import { MasterKeys, versionOf, type MasterKeysGiven } from '../stored/master-keys.js';
import { rewrapKeys } from '../stored/rewrap-keys.js';

export interface Rotation {
  /** Version of MASTER_KEY that wraps all keys now. */
  version: number;
  tenantKeys: { rewrapped: number; all: number };
  peppers: { rewrapped: number; all: number };
}

/** A process without the new key may wrap a tenant's key meanwhile. */
const ROUNDS = 5;

/**
 * Wraps every tenant key and pepper with the current MASTER_KEY and verifies that none is left under another one. Running processes must
 * know the new key.
 *
 * @throws MasterKeyMismatch for a key that does not match; Error while processes still use an earlier one
 */
export const rotateMasterKey = async (location: KeyLocation, given: MasterKeysGiven): Promise<Rotation> => {
  const masterKeys = new MasterKeys(given);
  const store = await openKeyStore(location);
  try {
    return await rotate(store, masterKeys);
  } finally {
    await store.close();
  }
};

const rotate = async (store: KeyStore, masterKeys: MasterKeys): Promise<Rotation> => {
  const { current: version } = masterKeys;
  const done = { tenantKeys: 0, peppers: 0 };
  for (let round = 1; ; round++) {
    const stored = await store.call('wrappedKeys');
    const left = [...stored.tenantKeys, ...stored.peppers].filter(({ wrapped }) => versionOf(wrapped) !== version);
    if (!left.length) {
      // Overwritten data is scrubbed, as after a destruction.
      await store.call('scrub');
      for (const key of stored.tenantKeys) masterKeys.unwrap('tenant-key', key);
      for (const pepper of stored.peppers) masterKeys.unwrap('pepper', pepper);
      return {
        version,
        tenantKeys: { rewrapped: done.tenantKeys, all: stored.tenantKeys.length },
        peppers: { rewrapped: done.peppers, all: stored.peppers.length },
      };
    }
    if (round > ROUNDS || left.some(({ wrapped }) => versionOf(wrapped) > version))
      throw new Error(
        `${left.length} keys are wrapped with another version of MASTER_KEY than ${version}, which running processes still use`,
      );
    const { tenantKeys, peppers } = await rewrapKeys(store, masterKeys, stored);
    done.tenantKeys += tenantKeys;
    done.peppers += peppers;
  }
};
