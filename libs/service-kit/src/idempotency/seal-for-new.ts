import { WrongExpectedRevision, type UnitWrite } from '@attestry/event-store';
import { KeyNotFound, type DataPurpose, type Sealing, type StoredValue } from '@attestry/keys';
import type { Attempt } from './deterministic-values.js';
import { isRefusal } from './refusal.js';

/** `sealed` may be read when an event is created, not before. */
export interface SealedForNew {
  readonly sealed: string;
  /** Absent when an earlier attempt may have stored it: then it is stored already. */
  newKey?: UnitWrite;
}

/**
 * Seals under a key that an earlier attempt of this call may have created. If the key was destroyed since, the event is stored and its
 * sealed text has ended: it is not needed any more.
 */
export const sealIdempotently = async (
  sealing: Sealing,
  tenantId: string,
  purpose: DataPurpose,
  keyId: string,
  text: string,
): Promise<SealedForNew> => {
  try {
    await sealing.createDataKey(tenantId, purpose, keyId);
    return { sealed: await sealing.sealText(tenantId, purpose, keyId, text) };
  } catch (error) {
    if (!(error instanceof KeyNotFound)) throw error;
    return {
      get sealed(): string {
        throw error;
      },
    };
  }
};

/** Result like {@link SealedForNew}, for a value that is stored with its key (ADR 0101). */
export interface StoredForNew {
  readonly stored: StoredValue;
  newKey?: UnitWrite;
}

const storeIdempotently = async (
  sealing: Sealing,
  tenantId: string,
  purpose: DataPurpose,
  keyId: string,
  text: string,
): Promise<StoredForNew> => {
  try {
    return await sealing.storeText(tenantId, purpose, keyId, text);
  } catch (error) {
    if (!(error instanceof KeyNotFound)) throw error;
    return {
      get stored(): StoredValue {
        throw error;
      },
    };
  }
};

/** Value that is sealed for a new owner under a new key. */
export interface NewValue {
  tenantId: string;
  purpose: DataPurpose;
  /** Id of the owner and of the key. */
  id: string;
  text: string;
}

/** Seals under a key that is stored with the owner's first event, or under the one that an earlier attempt of this call may have created. */
export const sealForNew = async (
  sealing: Sealing,
  { idempotentCall }: Attempt,
  { tenantId, purpose, id, text }: NewValue,
): Promise<SealedForNew> =>
  idempotentCall
    ? sealIdempotently(sealing, tenantId, purpose, id, text)
    : sealing.sealWithNewKey(tenantId, purpose, id, text);

/** Stores a value with its key (ADR 0101), otherwise like {@link sealForNew}. */
export const storeForNew = async (
  sealing: Sealing,
  { idempotentCall }: Attempt,
  { tenantId, purpose, id, text }: NewValue,
): Promise<StoredForNew> =>
  idempotentCall
    ? storeIdempotently(sealing, tenantId, purpose, id, text)
    : sealing.storeWithNewKey(tenantId, purpose, id, text);

/**
 * Whether a failed creation leaves its keys to nobody. An engine that failed may have stored the event that names them; a call that may be
 * retried keeps them, because a destroyed key cannot be created again under its id.
 */
export const leavesUnusedKeys = ({ idempotentCall }: Attempt, error: unknown): boolean =>
  !idempotentCall && (isRefusal(error) || error instanceof WrongExpectedRevision);
