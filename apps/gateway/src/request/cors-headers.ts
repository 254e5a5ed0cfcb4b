import type { Operation } from '@attestry/contracts';
import type { Answer } from '../pipeline/answer.js';

const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'DPoP',
  'OAuth-Client-Attestation',
  'OAuth-Client-Attestation-PoP',
].join(', ');
const EXPOSED_HEADERS = [
  'WWW-Authenticate',
  'Retry-After',
  'DPoP-Nonce',
  'OAuth-Client-Attestation-Challenge',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
].join(', ');

/**
 * Whether pages of any origin may call it: public documents and the endpoints of wallets. Not the token endpoint of clients, whose secrets
 * belong on no page; not redirects and pages, which browsers open and scripts do not (RFC 9700 §2.6).
 */
export const allowsOrigins = ({ rate, http }: Operation): boolean =>
  (rate === 'public' || rate === 'wallet' || rate === 'push') && http!.success < 300 && !http!.refusesOnPage;

/** Fetch standard, CORS protocol: for an answer that scripts of any origin may read. No credentials of browsers are involved. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS,
};

/**
 * Answer to OPTIONS (RFC 9110 §9.3.7), and to a CORS preflight.
 * @param allowed methods of the path
 * @param open those that may be called from any origin
 */
export const preflightAnswer = (allowed: readonly string[], open: readonly string[]): Answer => ({
  status: 204,
  headers: {
    allow: [...allowed, 'OPTIONS'].join(', '),
    'cache-control': 'no-store',
    ...(open.length > 0 && {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': open.join(', '),
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': '600',
    }),
  },
});
