import { oauthError, type RawRequest } from '@attestry/contracts';
import { queryOf } from '../protocol/raw-request.js';

/** RFC 6750 §2.1: only in the Authorization header; an address would end up in logs. */
export const checkAccessTokenLocation = (request: RawRequest): string => {
  if (request.url.includes('?') && queryOf(request).has('access_token'))
    throw oauthError('invalid_request', 'the access token must not be in the query string', {
      check: 'check-access-token-location',
    });
  // The scheme's name is case-insensitive (RFC 9110 §11.1).
  const token = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(request.headers['authorization'] ?? '')?.[1];
  if (token === undefined)
    throw oauthError('invalid_token', 'a Bearer access token is required', {
      check: 'check-access-token-location',
      // Without credentials the challenge carries no error code (RFC 6750 §3.1).
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  return token;
};
