import { oauthError, type RawRequest } from '@attestry/contracts';
import { queryOf } from '../../reading/raw-request/raw-request.js';

export interface AccessTokenCredentials {
  scheme: 'bearer' | 'dpop';
  token: string;
}

/** RFC 6750 §2.1, RFC 9449 §7.1: only in the Authorization header; an address would end up in logs. */
export const checkAccessTokenLocation = (request: RawRequest): AccessTokenCredentials => {
  if (request.url.includes('?') && queryOf(request).has('access_token'))
    throw oauthError('invalid_request', 'the access token must not be in the query string', {
      check: 'check-access-token-location',
    });
  // The scheme's name is case-insensitive (RFC 9110 §11.1).
  const [, scheme, token] =
    /^(bearer|dpop) +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(request.headers['authorization'] ?? '') ?? [];
  if (scheme === undefined || token === undefined)
    throw oauthError('invalid_token', 'an access token with the scheme Bearer or DPoP is required', {
      check: 'check-access-token-location',
      // Without credentials the challenge carries no error code (RFC 6750 §3.1).
      headers: { 'www-authenticate': 'Bearer, DPoP algs="ES256"' },
    });
  return { scheme: scheme.toLowerCase() as AccessTokenCredentials['scheme'], token };
};
