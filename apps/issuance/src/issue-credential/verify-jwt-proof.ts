import { oauthError } from '@attestry/contracts';
import { InvalidKey } from '@attestry/keys';
import { decodeCompactJws } from '../protocol/compact-jws.js';
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

/** Key proof of type `jwt`, OID4VCI Appendix F.1 and F.4. */
export const verifyJwtProof = (jwt: string, expected: ProofExpectations): VerifiedProof => {
  const { header, claims, isSignedBy } = decodeCompactJws(jwt, invalidProof);
  const holder = holderOf(header);
  checkHeader(header, holder);
  checkClaims(claims, expected);
  // Must not be empty: without it the proof was made for no request of this issuer.
  if (typeof claims['nonce'] !== 'string' || claims['nonce'] === '') throw invalidProof('nonce is missing');
  if (!isSignedBy(holder.publicKey)) throw invalidProof('the signature is invalid');
  return { holder, nonce: claims['nonce'] };
};

const holderOf = ({ kid, jwk, x5c, key_attestation: keyAttestation }: Record<string, unknown>): HolderKey => {
  if (x5c !== undefined) throw invalidProof('x5c is not supported');
  // Not ignored: the wallet must not conclude that its attestation was verified (OID4VCI Appendix D).
  if (keyAttestation !== undefined) throw invalidProof('key attestations are not supported');
  if ((kid === undefined) === (jwk === undefined)) throw invalidProof('exactly one of kid and jwk is required');
  try {
    return kid === undefined ? keyOfJwk(jwk) : keyOfKid(kid);
  } catch (cause) {
    if (cause instanceof InvalidKey)
      throw invalidProof(kid === undefined ? 'jwk is not a usable public key' : 'kid is not a usable DID URL');
    throw cause;
  }
};

const checkHeader = ({ typ, alg, crit, b64 }: Record<string, unknown>, holder: HolderKey): void => {
  if (typ !== 'openid4vci-proof+jwt') throw invalidProof('typ must be openid4vci-proof+jwt');
  if (alg !== 'ES256' && alg !== 'EdDSA') throw invalidProof('alg must be ES256 or EdDSA');
  if (CURVE_OF[alg] !== holder.publicJwk.crv) throw invalidProof('alg does not match the key');
  if (crit !== undefined || b64 !== undefined) throw invalidProof('critical header parameters are not supported');
};

const checkClaims = (
  { iss, aud, iat, exp }: Record<string, unknown>,
  { issuer, clientId, now, windowSeconds }: ProofExpectations,
): void => {
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

const invalidProof = (description: string) =>
  oauthError('invalid_proof', `proof: ${description}`, { check: 'verify-jwt-proof' });
