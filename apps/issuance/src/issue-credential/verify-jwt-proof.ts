import { verify } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { oauthError } from '@attestry/contracts';
import { InvalidKey } from '@attestry/keys';
import { keyOfJwk, keyOfKid, type HolderKey } from './holder-key.js';

export interface ProofExpectations {
  /** Credential issuer identifier of the session. */
  issuer: string;
  /** Of the authorization request; absent when the code was used without one. */
  clientId?: string;
  now: Date;
  /** How far `iat` may be from now. */
  windowSeconds: number;
}

export interface VerifiedProof {
  holder: HolderKey;
  /** Present, not yet checked. */
  nonce: string;
}

const CURVE_OF = { ES256: 'P-256', EdDSA: 'Ed25519' } as const;
const COMPACT = /^([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

/** Key proof of type `jwt`, OID4VCI Appendix F.1 and F.4. */
export const verifyJwtProof = (jwt: string, expected: ProofExpectations): VerifiedProof => {
  const parts = COMPACT.exec(jwt);
  if (!parts) throw invalidProof('must be a compact JWS');
  const header = decoded(decodeProtectedHeader, jwt, 'the header must be JSON');
  const holder = holderOf(header);
  checkHeader(header, holder);
  const payload = decoded(decodeJwt, jwt, 'the payload must be a JWT claims set');
  checkClaims(payload, expected);
  // Must not be empty: without it the proof was made for no request of this issuer.
  if (typeof payload['nonce'] !== 'string' || payload['nonce'] === '') throw invalidProof('nonce is missing');
  if (!isSigned(parts[1]!, parts[2]!, header.alg as keyof typeof CURVE_OF, holder))
    throw invalidProof('the signature is invalid');
  return { holder, nonce: payload['nonce'] };
};

const holderOf = (header: ProtectedHeaderParameters): HolderKey => {
  const { kid, jwk, x5c } = header as Record<string, unknown>;
  if (x5c !== undefined) throw invalidProof('x5c is not supported');
  if ((kid === undefined) === (jwk === undefined)) throw invalidProof('exactly one of kid and jwk is required');
  try {
    return kid === undefined ? keyOfJwk(jwk) : keyOfKid(kid);
  } catch (cause) {
    if (cause instanceof InvalidKey)
      throw invalidProof(kid === undefined ? 'jwk is not a usable public key' : 'kid is not a usable DID URL');
    throw cause;
  }
};

const checkHeader = (header: ProtectedHeaderParameters, holder: HolderKey): void => {
  const { typ, alg, crit, b64 } = header as Record<string, unknown>;
  if (typ !== 'openid4vci-proof+jwt') throw invalidProof('typ must be openid4vci-proof+jwt');
  if (alg !== 'ES256' && alg !== 'EdDSA') throw invalidProof('alg must be ES256 or EdDSA');
  if (CURVE_OF[alg] !== holder.publicJwk.crv) throw invalidProof('alg does not match the key');
  if (crit !== undefined || b64 !== undefined) throw invalidProof('critical header parameters are not supported');
};

const checkClaims = (payload: JWTPayload, { issuer, clientId, now, windowSeconds }: ProofExpectations): void => {
  const { iss, aud, iat, exp } = payload as Record<string, unknown>;
  // Where the code was used without a client id, `iss` has no meaning (Appendix F.1).
  if (clientId !== undefined && iss !== undefined && iss !== clientId) throw invalidProof('iss must be the client id');
  if (!(aud === issuer || (Array.isArray(aud) && aud.length === 1 && aud[0] === issuer)))
    throw invalidProof('aud must be the credential issuer identifier');
  const seconds = now.getTime() / 1000;
  if (typeof iat !== 'number' || !Number.isFinite(iat)) throw invalidProof('iat is missing');
  if (Math.abs(seconds - iat) > windowSeconds)
    throw invalidProof(`iat must be within ${windowSeconds} seconds of the current time`);
  if (exp !== undefined && !(typeof exp === 'number' && exp > seconds)) throw invalidProof('exp has passed');
};

const isSigned = (input: string, signature: string, alg: keyof typeof CURVE_OF, { publicKey }: HolderKey): boolean => {
  const bytes = Buffer.from(signature, 'base64url');
  const data = Buffer.from(input);
  return alg === 'ES256'
    ? verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes)
    : verify(null, data, publicKey, bytes);
};

const decoded = <T>(decode: (jwt: string) => T, jwt: string, description: string): T => {
  try {
    return decode(jwt);
  } catch (cause) {
    if (cause instanceof errors.JOSEError || cause instanceof TypeError) throw invalidProof(description);
    throw cause;
  }
};

const invalidProof = (description: string) =>
  oauthError('invalid_proof', `proof: ${description}`, { check: 'verify-jwt-proof' });
