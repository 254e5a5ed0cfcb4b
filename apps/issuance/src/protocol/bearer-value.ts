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
const IDS = /(.{8})(.{4})(.{4})(.{4})(.{12})/g;

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
  const ids = bytes.toString('hex', 0, 2 * ID_BYTES).replace(IDS, '$1-$2-$3-$4-$5 ');
  const [sessionId, tokenId] = ids.split(' ') as [string, string];
  return { sessionId, tokenId, value };
};

/** Binding of a grant's MAC: a value of one kind, tenant or session is invalid for any other. */
export const grantContext = (kind: Grant['kind'], tenantId: string, sessionId: string): string =>
  `${kind}:${tenantId}+${sessionId}`;
