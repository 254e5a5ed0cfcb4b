import type { KeyObject } from 'node:crypto';
import type { ParsedCertificate } from '@attestry/certificates';
import { shownName } from '@attestry/contracts';
import { importPublicJwk, InvalidKey, jwkThumbprint, type ImportedKey } from '@attestry/keys';
import { certifiedKeyOf } from '../compact-jws/certified-key.js';
import { decodeCompactJws } from '../compact-jws/compact-jws.js';

/** Characters of an attestation, and of a proof of possession. */
export const MAX_ATTESTATION = 16_384;
const MAX_JTI = 256;
/** How far `iat` of a proof of possession may be from now, seconds. */
const WINDOW_SECONDS = 300;
/** Clock skew of the attester, seconds. */
const SKEW_SECONDS = 60;
/** Age of an attestation that its wallet must replace, although it has not expired. */
const MAX_AGE_DAYS = 30;

export type AttestationErrorCode = 'invalid_client' | 'use_fresh_attestation' | 'use_attestation_challenge';

/** Why an attestation or its proof of possession is refused; the message is public. */
export class InvalidClientAttestation extends Error {
  override readonly name = 'InvalidClientAttestation';

  constructor(
    message: string,
    readonly code: AttestationErrorCode = 'invalid_client',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * The client that an attestation names, not verified: an authenticated client need not send `client_id` (RFC 6749 §4.1.3).
 * @param header value of `OAuth-Client-Attestation`
 */
export const clientOfAttestation = (header: string | undefined): string | undefined => {
  if (header === undefined || header.length > MAX_ATTESTATION) return undefined;
  try {
    const { sub } = decodeCompactJws(header, (fault) => new InvalidClientAttestation(fault)).claims;
    return typeof sub === 'string' && sub !== '' ? sub : undefined;
  } catch (error) {
    if (error instanceof InvalidClientAttestation) return undefined;
    throw error;
  }
};

export interface AttestationExpectations {
  /** Client of the request. */
  clientId: string;
  /** Root certificates of the wallet. */
  anchors: readonly ParsedCertificate[];
  now: Date;
}

/** The key of the wallet instance that its provider attests. */
export interface AttestedInstance {
  publicKey: KeyObject;
  /** RFC 7638 thumbprint. */
  jkt: string;
}

/**
 * Client Attestation JWT (attestation-based client authentication §7.1, HAIP 1.0 §4.4.1).
 * @param header value of `OAuth-Client-Attestation`; several headers are joined by a comma, which no JWS contains
 * @throws InvalidClientAttestation
 */
export const verifyClientAttestation = async (
  header: string,
  { clientId, anchors, now }: AttestationExpectations,
): Promise<AttestedInstance> => {
  const refused = (fault: string, code?: AttestationErrorCode, cause?: unknown) =>
    new InvalidClientAttestation(`client attestation: ${fault}`, code, { cause });
  if (header.length > MAX_ATTESTATION) throw refused(`must have at most ${MAX_ATTESTATION} characters`);
  const jws = decodeCompactJws(header, refused);
  checkHeader(jws.header, 'oauth-client-attestation+jwt', refused);
  const { sub, exp, nbf, iat, cnf } = jws.claims;
  if (sub !== clientId) throw refused('sub must be the client_id of the request');
  const seconds = now.getTime() / 1000;
  if (typeof exp !== 'number') throw refused('exp is missing');
  if (exp <= seconds) throw refused('exp has passed');
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= seconds + SKEW_SECONDS))
    throw refused('nbf has not been reached');
  if (iat !== undefined) {
    if (typeof iat !== 'number' || iat > seconds + SKEW_SECONDS) throw refused('iat must not be in the future');
    if (iat < seconds - MAX_AGE_DAYS * 86_400)
      throw refused(`iat must be at most ${MAX_AGE_DAYS} days ago`, 'use_fresh_attestation');
  }
  const instance = instanceKeyOf(cnf, refused);
  const attesterKey = await certifiedKeyOf(jws.header['x5c'], anchors, now, (fault, cause) =>
    refused(fault, undefined, cause),
  );
  if (attesterKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw refused('x5c must begin with the certificate of a P-256 key');
  if (!jws.isSignedBy(attesterKey)) throw refused('the signature is invalid');
  return { publicKey: instance.publicKey, jkt: jwkThumbprint(instance.publicJwk) };
};

type Refuse = (fault: string, code?: AttestationErrorCode, cause?: unknown) => InvalidClientAttestation;

const checkHeader = ({ typ, alg, crit, b64 }: Record<string, unknown>, expectedTyp: string, refused: Refuse): void => {
  if (typ !== expectedTyp) throw refused(`typ must be ${expectedTyp}`);
  if (alg !== 'ES256') throw refused('alg must be ES256');
  if (crit !== undefined || b64 !== undefined) throw refused('critical header parameters are not supported');
};

const instanceKeyOf = (cnf: unknown, refused: Refuse): ImportedKey => {
  const { jwk } = (typeof cnf === 'object' && cnf !== null ? cnf : {}) as { jwk?: unknown };
  try {
    const key = importPublicJwk(jwk);
    if (key.publicJwk.crv === 'P-256') return key;
  } catch (error) {
    if (!(error instanceof InvalidKey)) throw error;
  }
  throw refused('cnf.jwk must be a public P-256 key without private members');
};

export interface PopExpectations {
  instance: AttestedInstance;
  /** Issuer identifier of the authorization server, and its host for wallets of earlier drafts. */
  audiences: readonly string[];
  now: Date;
}

export interface AttestationPop {
  jti: string;
  /** End of the time in which it is accepted. */
  expiresAt: Date;
  /** Not yet checked. */
  challenge?: string;
}

/**
 * Client Attestation PoP JWT (attestation-based client authentication §7.2), except challenge and single use.
 * @param header value of `OAuth-Client-Attestation-PoP`
 * @throws InvalidClientAttestation
 */
export const verifyAttestationPop = (header: string, { instance, audiences, now }: PopExpectations): AttestationPop => {
  const refused: Refuse = (fault, code, cause) =>
    new InvalidClientAttestation(`client attestation PoP: ${fault}`, code, { cause });
  if (header.length > MAX_ATTESTATION) throw refused(`must have at most ${MAX_ATTESTATION} characters`);
  const jws = decodeCompactJws(header, refused);
  checkHeader(jws.header, 'oauth-client-attestation-pop+jwt', refused);
  const { aud, jti, iat, exp, nbf, challenge } = jws.claims;
  const audience = Array.isArray(aud) && aud.length === 1 ? (aud[0] as unknown) : aud;
  const [issuer] = audiences;
  // IssuerNames accepts the same: the slash of the empty path, which libraries with a URL type write.
  if (typeof audience !== 'string' || !(audiences.includes(audience) || audience === `${issuer}/`))
    throw refused(
      aud === undefined ? `aud is missing: it must be ${issuer}` : `aud must be ${issuer}, not ${shownName(audience)}`,
    );
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI)
    throw refused(`jti must be a string of 1 to ${MAX_JTI} characters`);
  const seconds = now.getTime() / 1000;
  if (typeof iat !== 'number' || Math.abs(iat - seconds) > WINDOW_SECONDS)
    throw refused(`iat must be within ${WINDOW_SECONDS} seconds of the current time`);
  if (exp !== undefined && !(typeof exp === 'number' && exp > seconds)) throw refused('exp has passed');
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= seconds + SKEW_SECONDS))
    throw refused('nbf has not been reached');
  if (challenge !== undefined && typeof challenge !== 'string') throw refused('challenge must be a string');
  if (!jws.isSignedBy(instance.publicKey)) throw refused('the signature is invalid');
  return {
    jti,
    // A second more than the last `iat` that is accepted.
    expiresAt: new Date((iat + WINDOW_SECONDS + 1) * 1000),
    ...(challenge !== undefined && { challenge }),
  };
};
