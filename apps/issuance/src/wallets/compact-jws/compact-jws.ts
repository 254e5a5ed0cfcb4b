import { verify, type KeyObject } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, errors } from 'jose';

const COMPACT = /^([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

/** A JWT of a wallet, decoded and not verified. */
export interface CompactJws {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  /** ES256 or EdDSA, by the type of the key. */
  isSignedBy(publicKey: KeyObject): boolean;
}

/** Decodes a compact JWS with a JWT claims set (RFC 7515 §7.1, RFC 7519 §4). @throws what `refused` makes */
export const decodeCompactJws = (jwt: string, refused: (description: string) => Error): CompactJws => {
  const parts = COMPACT.exec(jwt);
  if (!parts) throw refused('must be a compact JWS');
  const [, input, signature] = parts as unknown as [string, string, string];
  const isSignedBy = (publicKey: KeyObject): boolean => {
    const bytes = Buffer.from(signature, 'base64url');
    const data = Buffer.from(input);
    return publicKey.asymmetricKeyType === 'ec'
      ? verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes)
      : verify(null, data, publicKey, bytes);
  };
  let fault = 'the header must be JSON';
  try {
    const header = decodeProtectedHeader(jwt) as Record<string, unknown>;
    fault = 'the payload must be a JWT claims set';
    const claims = decodeJwt(jwt);
    return { header, claims, isSignedBy };
  } catch (cause) {
    if (cause instanceof errors.JOSEError || cause instanceof TypeError) throw refused(fault);
    throw cause;
  }
};
