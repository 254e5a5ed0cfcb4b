import { BATCH_SIZE, MAX_PROOF_LENGTH, oauthError, type KeyAttestationRequirement } from '@attestry/contracts';
import { InvalidKey, jwkThumbprint } from '@attestry/keys';
import { certifiedKeyOf, loadTrustAnchors } from '../../wallets/compact-jws/certified-key.js';
import { decodeCompactJws } from '../../wallets/compact-jws/compact-jws.js';
import { isObject } from '../../reading/raw-request/raw-request.js';
import { keyOfJwk, type HolderKey } from './holder-key.js';

/** Clock skew of the attester, seconds. */
const SKEW_SECONDS = 60;

/** Keys that a trusted attester vouches for. */
export interface KeyAttestation {
  /** By RFC 7638 thumbprint, in the order of `attested_keys`. */
  holders: ReadonlyMap<string, HolderKey>;
  /** `kid` of each key that has one, in the same order. */
  kids: readonly unknown[];
  /** Present, not yet checked. */
  nonce: string;
}

/** How the attestation is sent: a proof of its own, or in the header of a `jwt` proof. */
export type AttestationUse = 'proof' | 'header';

/** The key attestations of one request: one that several of its proofs have is verified once. */
export class KeyAttestations {
  private readonly verified = new Map<string, KeyAttestation>();

  constructor(
    private readonly required: KeyAttestationRequirement,
    private readonly now: Date,
  ) {}

  /** @throws AppError `invalid_proof` */
  async verify(jwt: unknown, use: AttestationUse): Promise<KeyAttestation> {
    if (typeof jwt !== 'string') throw refused('must be a compact JWS');
    const known = this.verified.get(jwt) ?? (await verifyKeyAttestation(jwt, use, this.required, this.now));
    this.verified.set(jwt, known);
    return known;
  }
}

/**
 * Key attestation in JWT format, OID4VCI 1.0 Appendix D.1. Its `status` is not read: its nonce proves that it was made within the lifetime of
 * a nonce.
 * @throws AppError `invalid_proof`
 */
const verifyKeyAttestation = async (
  jwt: string,
  use: AttestationUse,
  { keyStorage, userAuthentication, rootCertificates }: KeyAttestationRequirement,
  now: Date,
): Promise<KeyAttestation> => {
  if (jwt.length > MAX_PROOF_LENGTH) throw refused(`must have at most ${MAX_PROOF_LENGTH} characters`);
  const { header, claims, isSignedBy } = decodeCompactJws(jwt, refused);
  checkHeader(header);
  checkTimes(claims, use, now);
  checkLevels('key_storage', claims['key_storage'], keyStorage);
  checkLevels('user_authentication', claims['user_authentication'], userAuthentication);
  const { nonce } = claims;
  if (typeof nonce !== 'string' || nonce === '') throw refused('nonce is missing');
  const keys = attestedKeysOf(claims['attested_keys']);
  const signer = await certifiedKeyOf(header['x5c'], await loadTrustAnchors(rootCertificates), now, refused);
  if (signer.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw refused('x5c must begin with the certificate of a P-256 key');
  if (!isSignedBy(signer)) throw refused('the signature is invalid');
  return { ...keys, nonce };
};

const checkHeader = ({ typ, alg, crit, b64 }: Record<string, unknown>): void => {
  if (typ !== 'key-attestation+jwt') throw refused('typ must be key-attestation+jwt');
  if (alg !== 'ES256') throw refused('alg must be ES256');
  if (crit !== undefined || b64 !== undefined) throw refused('critical header parameters are not supported');
};

const checkTimes = ({ iat, nbf, exp }: Record<string, unknown>, use: AttestationUse, now: Date): void => {
  const seconds = now.getTime() / 1000;
  if (typeof iat !== 'number') throw refused('iat is missing');
  if (iat > seconds + SKEW_SECONDS) throw refused('iat must not be in the future');
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= seconds + SKEW_SECONDS))
    throw refused('nbf has not been reached');
  if (exp === undefined && use === 'header') throw refused('exp is missing');
  if (exp !== undefined && !(typeof exp === 'number' && exp > seconds)) throw refused('exp has passed');
};

/** One of the accepted values, as the metadata announce them; no value implies another (Appendix D.2). */
const checkLevels = (claim: string, asserted: unknown, accepted: readonly string[] | undefined): void => {
  if (accepted && !(Array.isArray(asserted) && asserted.some((level) => accepted.includes(level as string))))
    throw refused(`${claim} must have one of: ${accepted.join(', ')}`);
};

const attestedKeysOf = (jwks: unknown): Pick<KeyAttestation, 'holders' | 'kids'> => {
  if (!Array.isArray(jwks) || jwks.length === 0 || jwks.length > BATCH_SIZE)
    throw refused(`attested_keys must be an array of 1 to ${BATCH_SIZE} keys`);
  const holders = new Map<string, HolderKey>();
  for (const jwk of jwks as unknown[]) {
    const holder = attestedKeyOf(jwk);
    holders.set(jwkThumbprint(holder.publicJwk), holder);
  }
  if (holders.size < jwks.length) throw refused('attested_keys must not repeat a key');
  return { holders, kids: jwks.map((jwk) => (isObject(jwk) ? jwk['kid'] : undefined)) };
};

const attestedKeyOf = (jwk: unknown): HolderKey => {
  try {
    const holder = keyOfJwk(jwk);
    // Keys that cannot sign could not be used by their holder.
    if (holder.publicJwk.crv === 'P-256' || holder.publicJwk.crv === 'Ed25519') return holder;
  } catch (error) {
    if (!(error instanceof InvalidKey)) throw error;
  }
  throw refused('attested_keys must contain only public P-256 or Ed25519 keys');
};

const refused = (fault: string, cause?: unknown) =>
  oauthError('invalid_proof', `key attestation: ${fault}`, { check: 'verify-key-attestation', cause });
