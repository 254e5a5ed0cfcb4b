import { createHmac } from 'node:crypto';
import type { OperationContext } from '@attestry/contracts';
import type { Ids } from '@attestry/event-store';
import { pooledBytes, type ByteSource } from '@attestry/keys';

/** One attempt of a call. */
export type Attempt = Pick<OperationContext, 'idempotentCall'>;

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
export const bytesFor = ({ idempotentCall }: Attempt, name: string): ByteSource =>
  idempotentCall?.bytes(name) ?? pooledBytes;

/** An id of what a call creates: the same for every retry under one key. */
export const idFor = ({ idempotentCall }: Attempt, name: string, ids: Ids): string =>
  idempotentCall ? uuidOf(Date.parse(idempotentCall.beganAt), idempotentCall.bytes(`id ${name}`)(16)) : ids.uuid();
