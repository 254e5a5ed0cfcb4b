import type { UnitWrite } from '@attestry/event-store';
import type { ExpiringState } from './expiring-state.js';
import type { KeyCheckpoints } from './key-checkpoints.js';
import type { Macs } from './macs.js';
import type { Sealing } from './sealing.js';
import type { SigningKeys } from './signing-keys.js';

/** Owner of keys that belong to the platform itself, not to a tenant. */
export const PLATFORM = 'platform';

/** Keys that were destroyed; without `keyIds` every key of the tenant. */
export interface KeysDestroyed {
  tenantId: string;
  keyIds?: readonly string[];
}

/**
 * The only store that services share (ADR 0058), with a port for each use of keys. Keys are sealed at rest with AES-256-GCM
 * under the tenant's key, with tenant, purpose and key id as associated data; tenant keys are wrapped by MASTER_KEY.
 */
export abstract class KeyVault {
  abstract readonly signingKeys: SigningKeys;
  abstract readonly sealing: Sealing;
  abstract readonly macs: Macs;
  abstract readonly expiringState: ExpiringState;
  abstract readonly checkpoints: KeyCheckpoints;

  /**
   * Destroys the tenant's own key at once, then every key under it in portions; no key of this tenant can be created again. An interrupted
   * call is repeated: nothing of the tenant can be opened meanwhile.
   */
  abstract destroyTenant(tenantId: string): Promise<void>;
  /** Called after keys were destroyed through this vault, so that the eviction can be published. Returns "stop". */
  abstract onDestroyed(listener: (destroyed: KeysDestroyed) => void): () => void;
  /** Drops keys from the caches: the receiving side of `onDestroyed`. Without `keyIds`, all of the tenant's. */
  abstract evict(tenantId: string, keyIds?: readonly string[]): void;

  abstract close(): Promise<void>;
}

export class KeyNotFound extends Error {
  override readonly name = 'KeyNotFound';
  constructor(readonly keyId: string) {
    super(`no key ${keyId}`);
  }
}

/** `sealWithNewKey` was called with the id of an existing key. */
export class KeyAlreadyExists extends Error {
  override readonly name = 'KeyAlreadyExists';
  constructor(readonly keyId: string) {
    super(`key ${keyId} exists already`);
  }
}

/** The sealed text was changed, cut, or belongs to another tenant, purpose or key. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
  constructor(readonly what: string) {
    super(`the seal of ${what} is broken`);
  }
}

/** MASTER_KEY, or a previous version of it, does not match the key store. */
export class MasterKeyMismatch extends Error {
  override readonly name = 'MasterKeyMismatch';
}

/** The guard cannot determine whether a value was spent; it may be spent now. */
export class ReplayGuardUnavailable extends Error {
  override readonly name = 'ReplayGuardUnavailable';
}

/** The server of the guard may evict values that were spent: each of them could then be used again. */
export class EvictingReplayStore extends Error {
  override readonly name = 'EvictingReplayStore';
  constructor(policy: string) {
    super(
      `names a server with maxmemory-policy ${policy}, which may evict used nonces and DPoP proofs before they expire`,
    );
  }
}

/** A value of a tenant that may be used once, until it expires. Values of different scopes are different ones. */
export interface SingleUseValue {
  scope: string;
  value: string;
  expiresAt: Date;
}

/** Values that are spent with a unit of work, all or none. */
export interface Spending extends UnitWrite {
  /**
   * After the unit was refused: spends the value that is spent nevertheless, unless the unit has spent it. False where that one was used
   * before.
   */
  spendAlways(): Promise<boolean>;
}

/** Single-use values: c_nonce, proof ids. Durable; fails closed (ADR 0059). */
export abstract class ReplayGuard {
  /**
   * Spends all of the values, or none: true exactly once for each of them within its lifetime, never after it; false also when one is given
   * twice. @throws RangeError for an invalid date; ReplayGuardUnavailable when the store cannot determine it
   */
  abstract spendAll(tenantId: string, values: readonly SingleUseValue[]): Promise<boolean>;

  /**
   * {@link spendAll} as part of a unit of work.
   * @param refusal the error where it is false
   * @param always spent with the others, and alone where they are refused
   */
  spending(
    tenantId: string,
    values: readonly SingleUseValue[],
    refusal: () => Error,
    always?: SingleUseValue,
  ): Spending {
    const kept = always ? [always] : [];
    let spent: Promise<void> | undefined;
    const spend = async () => {
      if (!(await this.spendAll(tenantId, [...kept, ...values]))) throw refusal();
    };
    return {
      kind: 'single-use',
      store: () => (spent ??= spend()),
      partOf: async () => undefined,
      spendAlways: async () =>
        !always ||
        (await spent?.then(
          () => true,
          () => false,
        )) ||
        this.spendAll(tenantId, kept),
    };
  }

  abstract close(): Promise<void>;
}

/** The store is unreachable or refused; whether anything was stored is unknown. */
export class KeyVaultUnavailable extends Error {
  override readonly name = 'KeyVaultUnavailable';
}
