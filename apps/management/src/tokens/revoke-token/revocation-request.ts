import { oauthError } from '@attestry/contracts';

/** A revocation request (RFC 7009 §2.1) with the client's credentials in the body (RFC 6749 §2.3.1). */
export interface RevocationRequest {
  token: string;
  clientId: string;
  clientSecret: string;
}

const PARAMETERS = ['token', 'client_id', 'client_secret'] as const;

/**
 * RFC 6749 §3.2: a parameter without a value counts as omitted, and none may be repeated; §5.2 for the codes. `token_type_hint` is
 * not read: a hint that is wrong must not matter (RFC 7009 §2.1), and there is one type of token.
 * @throws oauthError naming what is missing or malformed; never with values
 */
export const parseRevocationRequest = (body: object): RevocationRequest => {
  const given = body as Record<string, unknown>;
  const isMissing = (name: string) => given[name] === undefined || given[name] === null || given[name] === '';
  const missing = PARAMETERS.filter(isMissing);
  if (missing.length) throw oauthError('invalid_request', `Missing: ${missing.join(', ')}`);
  const malformed = PARAMETERS.filter((name) => typeof given[name] !== 'string');
  if (malformed.length) throw oauthError('invalid_request', `Must be sent once: ${malformed.join(', ')}`);
  return {
    token: given['token'] as string,
    clientId: given['client_id'] as string,
    clientSecret: given['client_secret'] as string,
  };
};
