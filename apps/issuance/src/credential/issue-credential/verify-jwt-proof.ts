import { oauthError, shownName } from '@attestry/contracts';
import { InvalidKey, jwkThumbprint } from '@attestry/keys';
import { CURVE_OF } from '../../formats/proof-types.js';
import { certifiedKeyOf, loadTrustAnchors } from '../../wallets/compact-jws/certified-key.js';
import { decodeCompactJws } from '../../wallets/compact-jws/compact-jws.js';
import { keyOfJwk, keyOfKid, type HolderKey } from './holder-key.js';
import type { KeyAttestation, KeyAttestations } from './verify-key-attestation.js';

export interface ProofExpectations {
  /** Credential issuer identifier of the tenant's host, which nearly all proofs name: checked first, without a read. */
  issuer: string;
  /** Whether another name is the credential issuer's (ADR 0102). */
  isOtherName(name: string): Promise<boolean>;
  /** Client of the authorization request; absent when the code was used without one. */
  clientId?: string;
  now: Date;
  /** How far `iat` may be from now. */
  windowSeconds: number;
  /** Present where the configuration requires key attestations. */
  attestations?: KeyAttestations | undefined;
  /** Present where the configuration accepts certificates of holders. */
  proofRootCertificates?: readonly string[] | undefined;
}

export interface VerifiedProof {
  holder: HolderKey;
  /** Present, not yet checked. */
  nonce: string;
  /** Attests the key of the holder. */
  attestation?: KeyAttestation;
}

/** Key proof of type `jwt`, OID4VCI Appendix F.1 and F.4. @throws AppError `invalid_proof` */
export const verifyJwtProof = async (jwt: string, expected: ProofExpectations): Promise<VerifiedProof> => {
  const { header, claims, isSignedBy } = decodeCompactJws(jwt, invalidProof);
  const { typ, alg, crit, b64 } = header;
  if (typ !== 'openid4vci-proof+jwt') throw invalidProof('typ must be openid4vci-proof+jwt');
  if (alg !== 'ES256' && alg !== 'EdDSA') throw invalidProof('alg must be ES256 or EdDSA');
  if (crit !== undefined || b64 !== undefined) throw invalidProof('critical header parameters are not supported');
  await checkClaims(claims, expected);
  // Must not be empty: without it the proof was made for no request of this issuer.
  const { nonce } = claims;
  if (typeof nonce !== 'string' || nonce === '') throw invalidProof('nonce is missing');
  // Where the configuration asks for none it is ignored (ADR 0091): some wallets send one with every proof.
  const attestation = expected.attestations && (await attestationOf(header['key_attestation'], expected.attestations));
  const holder = await holderOf(header, expected, attestation);
  if (CURVE_OF[alg] !== holder.publicJwk.crv) throw invalidProof('alg does not match the key');
  if (!isSignedBy(holder.publicKey)) throw invalidProof('the signature is invalid');
  if (!attestation) return { holder, nonce };
  if (!attestation.holders.has(jwkThumbprint(holder.publicJwk)))
    throw invalidProof('the key must be one of attested_keys of the key attestation');
  return { holder, nonce, attestation };
};

const attestationOf = (jwt: unknown, attestations: KeyAttestations): Promise<KeyAttestation> => {
  if (jwt === undefined) throw invalidProof('key_attestation is missing: this credential configuration requires it');
  return attestations.verify(jwt, 'header');
};

const holderOf = async (
  { kid, jwk, x5c }: Record<string, unknown>,
  expected: ProofExpectations,
  attestation: KeyAttestation | undefined,
): Promise<HolderKey> => {
  if (x5c !== undefined && !expected.proofRootCertificates) throw invalidProof('x5c is not supported');
  if (Number(kid === undefined) + Number(jwk === undefined) + Number(x5c === undefined) !== 2)
    throw invalidProof('exactly one of kid, jwk and x5c is required');
  try {
    if (jwk !== undefined) return keyOfJwk(jwk);
    if (kid !== undefined) return (attestation && attestedKeyOf(kid, attestation)) ?? keyOfKid(kid);
  } catch (cause) {
    if (cause instanceof InvalidKey)
      throw invalidProof(kid === undefined ? 'jwk is not a usable public key' : 'kid is not a usable DID URL');
    throw cause;
  }
  const trusted = await loadTrustAnchors(expected.proofRootCertificates!);
  const key = await certifiedKeyOf(x5c, trusted, expected.now, invalidProof);
  if (key.asymmetricKeyType !== 'ed25519' && key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw invalidProof('x5c must begin with the certificate of a P-256 or Ed25519 key');
  return keyOfJwk(key.export({ format: 'jwk' }));
};

/** A `kid` that is no DID URL names an attested key: by the `kid` of that key, or by its position, as in the example of Appendix F.1. */
const attestedKeyOf = (kid: unknown, { holders, kids }: KeyAttestation): HolderKey | undefined => {
  if (typeof kid !== 'string') return undefined;
  const keys = [...holders.values()];
  return keys[kids.indexOf(kid)] ?? (/^\d$/.test(kid) ? keys[Number(kid)] : undefined);
};

const checkClaims = async (
  { iss, aud, iat, exp }: Record<string, unknown>,
  { issuer, isOtherName, clientId, now, windowSeconds }: ProofExpectations,
): Promise<void> => {
  // Where the code was used without a client id, `iss` has no meaning (Appendix F.1).
  if (clientId !== undefined && iss !== undefined && iss !== clientId) throw invalidProof('iss must be the client id');
  const name: unknown = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  if (name !== issuer && (typeof name !== 'string' || !(await isOtherName(name))))
    throw invalidProof(
      aud === undefined ? `aud is missing: it must be ${issuer}` : `aud must be ${issuer}, not ${shownName(name)}`,
    );
  const seconds = now.getTime() / 1000;
  if (typeof iat !== 'number' || !Number.isFinite(iat)) throw invalidProof('iat is missing');
  if (Math.abs(seconds - iat) > windowSeconds)
    throw invalidProof(`iat must be within ${windowSeconds} seconds of the current time`);
  if (exp !== undefined && !(typeof exp === 'number' && exp > seconds)) throw invalidProof('exp has passed');
};

const invalidProof = (description: string, cause?: unknown) =>
  oauthError('invalid_proof', `proof: ${description}`, { check: 'verify-jwt-proof', cause });
