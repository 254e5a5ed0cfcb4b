/** A year; without includeSubDomains, since hosts below a tenant's domain are not the platform's. RFC 6797 §6.1 */
const HSTS = 'max-age=31536000';

/** What every answer has, whatever it is. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = { 'x-content-type-options': 'nosniff' };
/** The same over a secure connection. RFC 6797 §7.2: nowhere else. */
export const SECURE_HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  'strict-transport-security': HSTS,
};
