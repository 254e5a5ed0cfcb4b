import { createHmac } from 'node:crypto';
import type { OperationContext } from '@attestry/contracts';
import type { Ids, UnitWrite } from '@attestry/event-store';
import {
  KeyNotFound,
  pooledBytes,
  type ByteSource,
  type DataPurpose,
  type Sealing,
  type StoredValue,
} from '@attestry/keys';

/** HMAC-SHA256 in counter mode (NIST SP 800-108 §4.1), a stream for each name. */
export const seededBytes =
  (seed: Uint8Array) =>
  (name: string): ByteSource => {
    let block = 0;
    let rest: Buffer = Buffer.alloc(0);
    return (length) => {
      while (rest.length < length)
        rest = Buffer.concat([rest, createHmac('sha256', seed).update(`${block++}:${name}`).digest()]);
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      return bytes;
    };
  };

/** RFC 9562 §5.7 */
const uuidOf = (milliseconds: number, bytes: Buffer): string => {
  const id = Buffer.from(bytes);
  id.writeUIntBE(milliseconds, 0, 6);
  id[6] = 0x70 | (id[6]! & 0x0f);
  id[8] = 0x80 | (id[8]! & 0x3f);
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};

/** Random bytes for secrets that a call creates: the same for every retry under one key. */
export const bytesFor = ({ idempotentCall }: Pick<OperationContext, 'idempotentCall'>, name: string): ByteSource =>
  idempotentCall?.bytes(name) ?? pooledBytes;

/** An id of what a call creates: the same for every retry under one key. */
export const idFor = ({ idempotentCall }: Pick<OperationContext, 'idempotentCall'>, name: string, ids: Ids): string =>
  idempotentCall ? uuidOf(Date.parse(idempotentCall.beganAt), idempotentCall.bytes(`id ${name}`)(16)) : ids.uuid();

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

/** As {@link SealedForNew}. */
export interface StoredForNew {
  readonly stored: StoredValue;
  newKey?: UnitWrite;
}

/** As {@link sealIdempotently}, for a value that is stored with its key (ADR 0101). */
export const storeIdempotently = async (
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
