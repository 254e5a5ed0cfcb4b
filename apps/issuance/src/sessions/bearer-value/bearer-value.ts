import { pooledBytes, type ByteSource } from '@attestry/keys';
import type { Grant } from '../issuance-session/issuance-session.events.js';

/**
 * Codes and tokens name their stream and carry a secret: base64url of session id (16 bytes), token id (16 bytes) and
 * 256 random bits. The tenant comes from the host, never from the value (ADR 0059).
 */
export interface BearerValue {
  sessionId: string;
  tokenId: string;
  /** The whole value, which the MAC covers. */
  value: string;
}

const ID_BYTES = 16;
const BYTES = 2 * ID_BYTES + 32;

const idBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

export const makeBearerValue = (sessionId: string, tokenId: string, from: ByteSource = pooledBytes): BearerValue => {
  const bytes = Buffer.concat([idBytes(sessionId), idBytes(tokenId), from(32)]);
  return { sessionId, tokenId, value: bytes.toString('base64url') };
};

/** `undefined` unless it has exactly the form of {@link makeBearerValue}. */
export const parseBearerValue = (value: unknown): BearerValue | undefined => {
  if (typeof value !== 'string' || value.length !== Math.ceil((BYTES * 4) / 3)) return undefined;
  const bytes = Buffer.from(value, 'base64url');
  // Encoding again reveals foreign characters, padding and unused bits, which Node's decoder ignores.
  if (bytes.toString('base64url') !== value) return undefined;
  const hex = bytes.toString('hex', 0, 2 * ID_BYTES);
  const ids: string[] = [];
  for (let at = 0; at < hex.length; at += 2 * ID_BYTES)
    ids.push(
      `${hex.slice(at, at + 8)}-${hex.slice(at + 8, at + 12)}-${hex.slice(at + 12, at + 16)}-${hex.slice(at + 16, at + 20)}-${hex.slice(at + 20, at + 32)}`,
    );
  return { sessionId: ids[0]!, tokenId: ids[1]!, value };
};

/** Binding of a grant's MAC: a value of one kind, tenant or session is invalid for any other. */
export const grantContext = (kind: Grant['kind'], tenantId: string, sessionId: string): string =>
  `${kind}:${tenantId}+${sessionId}`;
