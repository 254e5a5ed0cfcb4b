import { oauthError, TOKEN_EXCHANGE } from '@attestry/contracts';

/** A client credentials request (RFC 6749 §4.4.2) with the client's credentials in the body (§2.3.1). */
export interface ClientCredentialsRequest {
  clientId: string;
  clientSecret: string;
  audience?: string;
}

const MEMBERS = ['client_id', 'client_secret', 'grant_type'] as const;

/** RFC 6749 §3.2: a parameter without a value counts as omitted. */
export const isMissing = (body: object, member: string): boolean => {
  const value = (body as Record<string, unknown>)[member];
  return value === undefined || value === null || value === '';
};

/**
 * RFC 6749 §5.2 for the codes.
 * @throws oauthError naming what is missing or malformed; never with values
 */
export const parseTokenRequest = (body: object): ClientCredentialsRequest => {
  const given = body as Record<string, unknown>;
  const lacks = (member: string) => isMissing(body, member);
  const missing = MEMBERS.filter(lacks);
  if (missing.length) throw oauthError('invalid_request', `Missing: ${missing.join(', ')}`);
  const malformed = [...MEMBERS, 'audience'].filter((it) => !lacks(it) && typeof given[it] !== 'string');
  if (malformed.length) throw oauthError('invalid_request', `Must be a string: ${malformed.join(', ')}`);
  if (given['grant_type'] !== 'client_credentials')
    throw oauthError('unsupported_grant_type', `grant_type must be client_credentials or ${TOKEN_EXCHANGE}`);
  return {
    clientId: given['client_id'] as string,
    clientSecret: given['client_secret'] as string,
    ...(!lacks('audience') && { audience: given['audience'] as string }),
  };
};
