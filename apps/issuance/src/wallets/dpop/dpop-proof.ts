import { hash } from 'node:crypto';
import { importPublicJwk, InvalidKey, jwkThumbprint, type ImportedKey } from '@attestry/keys';
import { decodeCompactJws } from '../compact-jws/compact-jws.js';

/** Characters of a proof. */
export const MAX_DPOP_PROOF = 16_384;
const MAX_JTI = 256;
/** How long after `iat` a proof may arrive, seconds. */
const MAX_AGE_SECONDS = 300;
/** How far ahead the wallet's clock may be, seconds: of `iat`, which limits the life of the proof, and of `nbf`. */
const MAX_AHEAD_SECONDS = { iat: 60, nbf: 10 };

/** Why a proof is refused; the message is public. */
export class InvalidDpopProof extends Error {
  override readonly name = 'InvalidDpopProof';
}

export interface DpopExpectations {
  method: string;
  /** URL of the endpoint, without query. */
  url: string;
  /** Received text. */
  body: string;
  now: Date;
  /** Sent with the proof: present at a protected resource only. */
  accessToken?: string;
}

export interface DpopProof {
  /** RFC 7638 thumbprint of the proof's key. */
  jkt: string;
  jti: string;
  /** End of the time in which the proof is accepted. */
  expiresAt: Date;
  /** Not yet checked. */
  nonce?: string;
}

/**
 * RFC 9449 §4.3, except nonce and single use.
 * @param header value of the `DPoP` header; several headers are joined by a comma, which no JWS contains
 * @throws InvalidDpopProof
 */
export const verifyDpopProof = (header: string, expected: DpopExpectations): DpopProof => {
  if (header.length > MAX_DPOP_PROOF) throw refused(`must have at most ${MAX_DPOP_PROOF} characters`);
  const jws = decodeCompactJws(header, refused);
  const { publicJwk, publicKey } = keyOf(jws.header);
  const { claims } = jws;
  if (claims['htm'] !== expected.method) throw refused(`htm must be ${expected.method}`);
  if (!isSameUrl(claims['htu'], expected.url)) throw refused(`htu must be ${expected.url}`);
  const iat = checkTimes(claims, expected.now);
  const { jti, nonce } = claims;
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI)
    throw refused(`jti must be a string of 1 to ${MAX_JTI} characters`);
  if (nonce !== undefined && typeof nonce !== 'string') throw refused('nonce must be a string');
  if (expected.accessToken !== undefined && claims['ath'] !== hash('sha256', expected.accessToken, 'base64url'))
    throw refused('ath must be the SHA-256 digest of the access token in base64url');
  if (claims['htcd'] !== undefined && !isDigest(claims['htcd'], expected.body))
    throw refused('htcd must be the SHA-256 digest of the request payload in base64');
  if (!jws.isSignedBy(publicKey)) throw refused('the signature is invalid');
  return {
    jkt: jwkThumbprint(publicJwk),
    jti,
    // A second more than the last `iat` that is accepted.
    expiresAt: new Date((iat + MAX_AGE_SECONDS + 1) * 1000),
    ...(nonce !== undefined && { nonce }),
  };
};

const keyOf = ({ typ, alg, jwk, crit, b64 }: Record<string, unknown>): ImportedKey => {
  if (typ !== 'dpop+jwt') throw refused('typ must be dpop+jwt');
  if (alg !== 'ES256') throw refused('alg must be ES256');
  if (crit !== undefined || b64 !== undefined) throw refused('critical header parameters are not supported');
  try {
    const key = importPublicJwk(jwk);
    if (key.publicJwk.crv === 'P-256') return key;
  } catch (error) {
    if (!(error instanceof InvalidKey)) throw error;
  }
  throw refused('jwk must be a public P-256 key without private members');
};

/** @returns `iat` */
const checkTimes = ({ iat, exp, nbf }: Record<string, unknown>, now: Date): number => {
  const seconds = now.getTime() / 1000;
  if (typeof iat !== 'number' || iat < seconds - MAX_AGE_SECONDS || iat > seconds + MAX_AHEAD_SECONDS.iat)
    throw refused(
      `iat must be at most ${MAX_AGE_SECONDS} seconds before and ${MAX_AHEAD_SECONDS.iat} seconds after the current time`,
    );
  if (exp !== undefined && !(typeof exp === 'number' && exp > seconds)) throw refused('exp has passed');
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= seconds + MAX_AHEAD_SECONDS.nbf))
    throw refused('nbf has not been reached');
  return iat;
};

/** An absolute URL as a wallet may write it: the parser would ignore spaces, accept a backslash and add slashes. */
const HTTP_URL = /^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i;

/** Without query and fragment, after normalization of scheme, host, port and dot segments (RFC 9449 §4.3, RFC 3986 §6.2.2 and §6.2.3). */
const isSameUrl = (given: unknown, expected: string): boolean => {
  if (typeof given !== 'string' || !HTTP_URL.test(given) || !URL.canParse(given)) return false;
  const { origin, pathname, username, password } = new URL(given);
  const { origin: host, pathname: path } = new URL(expected);
  return origin === host && pathname === path && username === '' && password === '';
};

/** base64 as the specification has it, or base64url, with or without padding. */
const isDigest = (given: unknown, text: string): boolean =>
  typeof given === 'string' &&
  given.replaceAll('+', '-').replaceAll('/', '_').replace(/=$/, '') === hash('sha256', text, 'base64url');

const refused = (description: string) => new InvalidDpopProof(`DPoP proof: ${description}`);
