/** A year; without includeSubDomains, since hosts below a tenant's domain are not the platform's. RFC 6797 §6.1 */
const HSTS = 'max-age=31536000';

/** Headers of every response. @param scheme of the request */
export const securityHeaders = (scheme: string): Record<string, string> => ({
  'x-content-type-options': 'nosniff',
  // RFC 6797 §7.2: only over a secure connection.
  ...(scheme === 'https' && { 'strict-transport-security': HSTS }),
});
