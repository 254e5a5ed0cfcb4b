/** A year; without includeSubDomains, since hosts below a tenant's domain are not the platform's. RFC 6797 §6.1 */
const HSTS = 'max-age=31536000';

/** Headers of every response. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = { 'x-content-type-options': 'nosniff' };
/** Over HTTPS. RFC 6797 §7.2: HSTS only over a secure connection. */
export const SECURE_HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  'strict-transport-security': HSTS,
};
