import { MAX_WALLET_CLIENT_ID, oauthError, PushedAuthorizationRequest, type OAuthErrorCode } from '@attestry/contracts';
import { checkLengths, maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import type { RequestingClient } from '../../wallets/wallet-record/accepted-request.js';
import {
  parseAuthorizationDetails,
  type RequestedDetail,
} from '../../sessions/authorization-details/authorization-details.js';
import { resourcesOf } from '../../sessions/authorization-details/check-target.js';

export interface AuthorizationRequest {
  codeChallenge: string;
  /** Values of `scope`. */
  scopes: string[];
  details?: RequestedDetail[];
  /** Values of `resource`; whether they are the issuer's is checked later. */
  resources?: string[];
  /** Thumbprint of the key whose proof the token request must have. RFC 9449 §10 */
  dpopJkt?: string;
  /** From the offer. OID4VCI §5.1.3 */
  issuerState?: string;
}

const MAX_LENGTHS = maxLengthsOf(PushedAuthorizationRequest);
const MAX_STATE = MAX_LENGTHS.get('state')!;
/** base64url of a SHA-256 digest. RFC 7636 §4.2, RFC 7638 §3.1 */
const DIGEST = /^[A-Za-z0-9_-]{43}$/;
const refused = (code: OAuthErrorCode, description: string) =>
  oauthError(code, description, { check: 'parse-authorization-request' });

/**
 * Client and redirect address, which are not checked here: without both, the browser is not redirected (RFC 6749 §4.1.2.1).
 * @throws AppError 400
 */
export const parseClient = (query: URLSearchParams): RequestingClient => {
  for (const name of ['client_id', 'redirect_uri'])
    if (query.getAll(name).length !== 1 || query.get(name) === '')
      throw refused('invalid_request', `${name} must be sent once, with a value`);
  const [clientId, redirectUri] = [query.get('client_id')!, query.get('redirect_uri')!];
  if (!/^[\x20-\x7e]+$/.test(clientId) || clientId.length > MAX_WALLET_CLIENT_ID)
    throw refused(
      'invalid_request',
      `client_id must be at most ${MAX_WALLET_CLIENT_ID} printable ASCII characters (RFC 6749 A.1)`,
    );
  const [state, ...others] = query.getAll('state');
  const isReturned = state && state.length <= MAX_STATE && others.length === 0;
  return { clientId, redirectUri, ...(isReturned && { state }) };
};

/**
 * RFC 6749 §4.1.1, RFC 7636 §4.3, OID4VCI §5.1: faults are reported in the order most useful to a developer. Parameters without a value
 * count as omitted, unknown ones are ignored.
 * @throws AppError whose code goes to the client
 */
export const parseAuthorizationRequest = (query: URLSearchParams): AuthorizationRequest => {
  checkLengths(MAX_LENGTHS, query);
  // RFC 8707 §2: a resource may be named more than once.
  const names = [...query.keys()].filter((name) => name !== 'resource');
  if (new Set(names).size < names.length)
    throw refused('invalid_request', 'a parameter must not be sent more than once');
  const value = (name: string): string | undefined => query.get(name) || undefined;

  if (value('request') !== undefined) throw refused('request_not_supported', 'request objects are not supported');
  // RFC 9126 §2.1. The authorization endpoint has read its own before.
  if (value('request_uri') !== undefined) throw refused('invalid_request', 'request_uri must not be pushed');
  const responseType = value('response_type');
  if (responseType === undefined) throw refused('invalid_request', 'response_type is missing');
  if (responseType !== 'code') throw refused('unsupported_response_type', 'response_type must be code');
  if ((value('response_mode') ?? 'query') !== 'query') throw refused('invalid_request', 'response_mode must be query');
  const codeChallenge = value('code_challenge');
  if (codeChallenge === undefined) throw refused('invalid_request', 'code_challenge is missing');
  if (value('code_challenge_method') !== 'S256') throw refused('invalid_request', 'code_challenge_method must be S256');
  if (!DIGEST.test(codeChallenge))
    throw refused('invalid_request', 'code_challenge must be a SHA-256 digest in base64url');
  const dpopJkt = value('dpop_jkt');
  if (dpopJkt !== undefined && !DIGEST.test(dpopJkt))
    throw refused('invalid_request', 'dpop_jkt must be the SHA-256 thumbprint of a key in base64url');
  const resources = resourcesOf(query);
  const details = value('authorization_details');
  const issuerState = value('issuer_state');
  return {
    codeChallenge,
    scopes: (value('scope') ?? '').split(' ').filter(Boolean),
    ...(details !== undefined && { details: parseAuthorizationDetails(details) }),
    ...(resources.length > 0 && { resources }),
    ...(dpopJkt !== undefined && { dpopJkt }),
    ...(issuerState !== undefined && { issuerState }),
  };
};
