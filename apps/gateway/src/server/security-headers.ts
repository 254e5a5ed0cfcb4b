/** A year; without includeSubDomains, since hosts below a tenant's domain are not the platform's. RFC 6797 §6.1 */
const HSTS = 'max-age=31536000';

/** What every answer has, whatever it is. @param scheme the request came by */
export const securityHeaders = (scheme: string): Record<string, string> => ({
  'x-content-type-options': 'nosniff',
  // RFC 6797 §7.2: over a secure connection alone.
  ...(scheme === 'https' && { 'strict-transport-security': HSTS }),
});
