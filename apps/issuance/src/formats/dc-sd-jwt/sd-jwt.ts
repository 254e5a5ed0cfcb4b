import { hash } from 'node:crypto';
import type { ByteSource, PublicJwk } from '@attestry/keys';
import { secondsOf, type TokenStatus } from '../../status-lists/status-list/token-status-list.js';
import { claimFault, ClaimNotDisclosable } from './claim-fault.js';

/** 128 bits: RFC 9901 §9.3. */
const SALT_BYTES = 16;

export interface SdJwtCredential {
  /** Result of `sdJwtHeader`. */
  header: string;
  /** Issuer identifier. */
  iss: string;
  vct: string;
  /** Absent when the platform does not publish the type metadata. */
  vctIntegrity?: string;
  /** Rounded, as the other times: exact ones would link the credentials of a batch. */
  issuedAt: Date;
  validFrom: Date;
  validUntil?: Date;
  holderKey: PublicJwk;
  status?: TokenStatus;
  /** Plain JSON, by claim name. */
  claims: Readonly<Record<string, unknown>>;
  /** Number of claims that the configuration maps, also of those without a value in this credential. */
  mappedClaims: number;
}

export interface PreparedSdJwt {
  /** ASCII, to be signed with ES256. */
  signingInput: string;
  disclosures: readonly string[];
}

/**
 * Encoded protected header, the same for all credentials of a signer. It has no `kid`: some readers take two names of a key for an ambiguity.
 * @param x5c base64 DER, the signer's certificate first, without the trust anchor (HAIP §6.1)
 */
export const sdJwtHeader = (x5c: readonly string[]): string => encoded({ alg: 'ES256', typ: 'dc+sd-jwt', x5c });

/**
 * Signing input and disclosures of an SD-JWT VC. Every claim is selectively disclosable, and so is every member and element of its value,
 * at all levels: RFC 9901 §4.2.6.
 *
 * Decoy digests fill up the top level to one digest for each mapped claim, so that their number does not show which optional claims have a
 * value (RFC 9901 §10.4). Values have none: the digests in a value are visible only once the holder has disclosed it, and a configuration
 * defines no number of members to fill up to.
 * @throws ClaimNotDisclosable
 */
export const prepareSdJwt = (credential: SdJwtCredential, random: ByteSource): PreparedSdJwt => {
  const { claims, holderKey, mappedClaims, vctIntegrity, validUntil, status } = credential;
  const fault = claimFault(claims);
  if (fault) throw new ClaimNotDisclosable(fault);

  const disclosures: string[] = [];
  const disclose = (...content: unknown[]): string => {
    const disclosure = encoded([random(SALT_BYTES).toString('base64url'), ...content]);
    disclosures.push(disclosure);
    return hash('sha256', disclosure, 'base64url');
  };
  const conceal = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    return Array.isArray(value)
      ? value.map((element) => ({ '...': disclose(conceal(element)) }))
      : concealMembers(value as Record<string, unknown>);
  };
  const concealMembers = (members: Readonly<Record<string, unknown>>, digestsWanted = 0): { _sd?: string[] } => {
    const digests = Object.entries(members).map(([name, value]) => disclose(name, conceal(value)));
    // Without disclosures there is no `_sd`, thus no decoys either (SD-JWT VC, SD-JWT VC without Selectively Disclosable Claims).
    if (digests.length === 0) return {};
    while (digests.length < digestsWanted) digests.push(hash('sha256', random(SALT_BYTES), 'base64url'));
    // The order of digests is independent of the order of claims, RFC 9901 §4.2.4.1.
    return { _sd: digests.sort() };
  };

  const concealed = concealMembers(claims, mappedClaims);
  const { kty, crv, x, y } = holderKey;
  const payload = {
    iss: credential.iss,
    iat: secondsOf(credential.issuedAt),
    nbf: secondsOf(credential.validFrom),
    ...(validUntil && { exp: secondsOf(validUntil) }),
    vct: credential.vct,
    ...(vctIntegrity !== undefined && { 'vct#integrity': vctIntegrity }),
    cnf: { jwk: { kty, crv, x, ...(y !== undefined && { y }) } },
    ...(status && { status }),
    ...concealed,
    ...(concealed._sd && { _sd_alg: 'sha-256' }),
  };
  return { signingInput: `${credential.header}.${encoded(payload)}`, disclosures };
};

/** Compact serialization without key binding, RFC 9901 §4. */
export const assembleSdJwt = ({ signingInput, disclosures }: PreparedSdJwt, signature: Uint8Array): string =>
  `${[`${signingInput}.${Buffer.from(signature).toString('base64url')}`, ...disclosures].join('~')}~`;

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}
