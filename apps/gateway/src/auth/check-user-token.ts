import { errors, type JWTPayload } from 'jose';
import { insufficientUserAuthentication, invalidToken, type AppError } from '@attestry/contracts';
import { unmetClaim, type RequiredClaims } from '@attestry/service-kit';

/** OpenID Connect Core 1.0 §2. */
const MAX_SUBJECT = 255;

/** The claims of an access token of a person that are read. */
export interface UserClaims extends JWTPayload {
  iss: string;
  sub: string;
  exp: number;
}

/** No text of the token is repeated (ADR 0066). */
const refused = (reason: string): AppError => invalidToken(reason, 'check-user-token');

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/**
 * Refusal of a token by its claims. jose has verified its signature before, so that the token is from the operator's provider, whose
 * settings the reason concerns.
 * @param audience that is required
 */
export const claimRefusal = (
  error: errors.JWTClaimValidationFailed | errors.JWTExpired,
  audience: string,
): AppError => {
  const { claim, reason } = error;
  if (claim === 'typ') return refused('The access token must have the typ at+jwt in its header (RFC 9068 section 2.1)');
  const request = claim === 'aud' ? `; request one for ${audience}` : '';
  if (reason === 'missing') return refused(`The access token has no claim ${claim}${request}`);
  if (claim === 'aud') return refused(`The access token has another audience${request}`);
  if (reason === 'invalid') return refused(`The claim ${claim} of the access token must be a number`);
  return refused(claim === 'exp' ? 'The access token has expired' : 'The access token is not valid yet');
};

/**
 * Rules for a token whose signature, type, audience and times were verified.
 * @throws AppError 401
 */
export const checkUserToken = (payload: JWTPayload, requiredClaims: RequiredClaims): UserClaims => {
  const { sub } = payload;
  if (!isText(sub) || sub.length > MAX_SUBJECT)
    throw refused(`The claim sub of the access token must be 1 to ${MAX_SUBJECT} characters long`);
  checkClient(payload, sub);
  checkRequired(payload, requiredClaims);
  return payload as UserClaims;
};

/**
 * The client is `client_id` (RFC 9068 §2.2); providers that leave it out have `azp` (OpenID Connect Core 1.0 §2). A token whose subject is
 * its client belongs to a machine (RFC 9068 §5).
 */
const checkClient = (payload: JWTPayload, subject: string): void => {
  const named = (['client_id', 'azp'] as const).filter((name) => payload[name] !== undefined);
  if (named.length === 0) throw refused('The access token has neither the claim client_id nor azp');
  for (const name of named)
    if (!isText(payload[name])) throw refused(`The claim ${name} of the access token must be the name of a client`);
  if (named.some((name) => payload[name] === subject))
    throw refused('The access token belongs to a machine: its sub is its client; sign in as a person');
  if (new Set(named.map((name) => payload[name])).size > 1)
    throw refused('The claims client_id and azp of the access token name different clients');
};

/** RFC 9470 §3. The caller learns what another sign-in must have. */
const checkRequired = (payload: JWTPayload, required: RequiredClaims): void => {
  const unmet = unmetClaim(required, payload);
  if (unmet === undefined) return;
  const values = required[unmet]!.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  throw insufficientUserAuthentication(
    `The claim ${unmet} of the access token must be ${values.length > 1 ? 'one of these: ' : ''}${values.join(', ')}`,
    'check-user-token',
    unmet === 'acr' ? values : [],
  );
};
