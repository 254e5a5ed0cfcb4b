import { oauthError } from '@attestry/contracts';
import {
  parseAuthorizationDetails,
  type RequestedDetail,
} from '../../sessions/authorization-details/authorization-details.js';
import { resourcesOf } from '../../sessions/authorization-details/check-target.js';
import { AUTHORIZATION_CODE_GRANT, REFRESH_TOKEN_GRANT } from '../../sessions/offer-document/offer-document.js';
import { checkGrantType } from './check-grant-type.js';

export interface PreAuthorizedCodeRequest {
  grant: 'preAuthorizedCode';
  code: string;
  transactionCode?: string;
  /** Optional (OID4VCI §6.1): the rules for a registered wallet apply when it is sent. */
  clientId?: string;
  authorizationDetails?: RequestedDetail[];
  resources?: string[];
}

export interface AuthorizationCodeRequest {
  grant: 'authorizationCode';
  code: string;
  /** Absent only beside a client attestation that names no client, which the authentication refuses. */
  clientId?: string;
  redirectUri: string;
  codeVerifier: string;
  authorizationDetails?: RequestedDetail[];
  resources?: string[];
}

/** A request that exchanges a code. */
export type TokenRequest = PreAuthorizedCodeRequest | AuthorizationCodeRequest;

export interface RefreshTokenRequest {
  grant: 'refreshToken';
  refreshToken: string;
  /** Absent as in {@link AuthorizationCodeRequest}. */
  clientId?: string;
  /** Values of `scope`. */
  scopes?: string[];
  authorizationDetails?: RequestedDetail[];
  resources?: string[];
}

/**
 * OID4VCI §6.1, RFC 6749 §4.1.3 and §6. Parameters without a value count as omitted (RFC 6749 §3.2); unknown ones are ignored.
 * @param isAttested whether the request has a client attestation: then the authentication decides who the client is
 */
export const parseTokenRequest = (form: URLSearchParams, isAttested = false): TokenRequest | RefreshTokenRequest => {
  const value = (name: string): string | undefined => form.get(name) || undefined;
  const needed = (name: string): string => {
    const found = value(name);
    if (found === undefined)
      throw oauthError('invalid_request', `${name} is missing`, { check: 'parse-token-request' });
    return found;
  };
  const grantType = checkGrantType(value('grant_type'));
  const details = value('authorization_details');
  const resources = resourcesOf(form);
  const clientId = value('client_id');
  const requested = {
    ...(clientId !== undefined && { clientId }),
    ...(details !== undefined && { authorizationDetails: parseAuthorizationDetails(details) }),
    ...(resources.length > 0 && { resources }),
  };
  if (grantType === AUTHORIZATION_CODE_GRANT) {
    const code = needed('code');
    if (!isAttested) needed('client_id');
    const redirectUri = needed('redirect_uri');
    const codeVerifier = value('code_verifier');
    // RFC 7636 §4.6: without the verifier, the sender has not shown that it requested the code.
    if (codeVerifier === undefined)
      throw oauthError('invalid_grant', 'code_verifier is missing', { check: 'parse-token-request' });
    return { grant: 'authorizationCode', code, redirectUri, codeVerifier, ...requested };
  }
  if (grantType === REFRESH_TOKEN_GRANT) {
    const refreshToken = needed('refresh_token');
    if (!isAttested) needed('client_id');
    const scopes = value('scope')?.split(' ').filter(Boolean);
    return { grant: 'refreshToken', refreshToken, ...(scopes?.length && { scopes }), ...requested };
  }
  const code = needed('pre-authorized_code');
  const transactionCode = value('tx_code');
  return {
    grant: 'preAuthorizedCode',
    code,
    ...(transactionCode !== undefined && { transactionCode }),
    ...requested,
  };
};
