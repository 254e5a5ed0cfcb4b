import {
  CLAIM_BOUNDS,
  locatedJsonFault,
  oauthError,
  shownPath,
  usableClaims,
  type AppError,
} from '@attestry/contracts';
import { plainCopy } from '@attestry/service-kit';
import { decodeJwt, errors, jwtVerify, SignJWT } from 'jose';
import { isObject } from '../../reading/raw-request/raw-request.js';

/** Length of a token in either direction: both are part of an address. */
export const MAX_SESSION_TOKEN = 8192;
/** Between the clocks of the two servers, seconds. */
const CLOCK_TOLERANCE = 30;

/** Subject of both tokens of an interaction. */
export interface Interaction {
  /** Credential issuer identifier. */
  issuer: string;
  hookUrl: string;
  state: string;
  /** Secret of the hook, base64. */
  secret: string;
  sessionTimeoutInSec: number;
  now: Date;
}

const refused = (description: string, cause?: unknown): AppError =>
  oauthError('access_denied', `session_token: ${description}`, { check: 'session-token', cause });

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);
const keyOf = (secret: string): Uint8Array => new Uint8Array(Buffer.from(secret, 'base64'));

/** The token that the browser takes to the hook. @throws AppError server_error when it has no place in an address */
export const makeSessionToken = async (
  { issuer, hookUrl, state, secret, sessionTimeoutInSec, now }: Interaction,
  { redirectUrl, claims }: { redirectUrl: string; claims: Record<string, unknown> },
): Promise<string> => {
  const token = await new SignJWT({ state, redirectUrl, claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience(hookUrl)
    .setIssuedAt(seconds(now))
    .setExpirationTime(seconds(now) + sessionTimeoutInSec)
    .sign(keyOf(secret));
  if (token.length > MAX_SESSION_TOKEN)
    throw oauthError('server_error', 'the claims for the interaction hook are too large for an address', {
      check: 'session-token',
    });
  return token;
};

/** `state` of a token that is not verified yet: the name under which its interaction is stored. */
export const stateOf = (token: string): string => {
  try {
    const { state } = decodeJwt(token);
    return typeof state === 'string' ? state : '';
  } catch (error) {
    if (error instanceof errors.JOSEError) return '';
    throw error;
  }
};

export interface InteractionResult {
  claims: Record<string, unknown>;
  /** Names of claims that are stored with the user. */
  claimsToPersist: string[];
  /** Names of claims that cannot be used, which have the value null, if there are any. */
  unusable?: string[];
}

/** Content of the token that the browser brings back. @throws AppError access_denied */
export const verifySessionToken = async (
  token: string,
  { issuer, hookUrl, state, secret, sessionTimeoutInSec, now }: Interaction,
): Promise<InteractionResult> => {
  let payload: Record<string, unknown>;
  try {
    ({ payload } = await jwtVerify(token, keyOf(secret), {
      algorithms: ['HS256'],
      issuer: hookUrl,
      audience: issuer,
      requiredClaims: ['exp', 'state'],
      currentDate: now,
      clockTolerance: CLOCK_TOLERANCE,
    }));
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    throw refused(faultOf(error), error);
  }
  if (payload['state'] !== state) throw refused('state must be the one of the token that the hook received');
  if ((payload['exp'] as number) > seconds(now) + sessionTimeoutInSec + CLOCK_TOLERANCE)
    throw refused(`exp must be at most ${sessionTimeoutInSec} seconds in the future`);
  const { claims = {}, claimsToPersist = [] } = payload;
  if (!isObject(claims)) throw refused('claims must be an object');
  const fault = locatedJsonFault(claims, CLAIM_BOUNDS);
  if (fault) throw refused(`${shownPath(['claims', ...fault.path])} ${fault.msg}`);
  if (!isNames(claimsToPersist)) throw refused('claimsToPersist must be an array of strings');
  const text = Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8');
  const usable = usableClaims(plainCopy(claims) as Record<string, unknown>, text, ['claims']);
  const { unusable } = usable;
  return {
    claims: usable.claims,
    claimsToPersist: claimsToPersist.filter((name) => !unusable.includes(name)),
    ...(unusable.length > 0 && { unusable }),
  };
};

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');

/** For the wallet and the operator of the hook; it names no value. */
const faultOf = (error: errors.JOSEError): string => {
  if (error instanceof errors.JWTExpired) return 'exp has passed';
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.claim === 'iss'
      ? 'iss must be the url of the interaction hook'
      : error.claim === 'aud'
        ? 'aud must be the credential issuer identifier'
        : `${error.claim} is missing or not valid`;
  if (error instanceof errors.JOSEAlgNotAllowed) return 'alg must be HS256';
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return 'the signature was not made with the secret of the interaction hook';
  return 'it must be a compact JWS with a JSON object';
};
