/** Subdomains no tenant may have: hosts of the platform itself and names that would mislead. */
export const RESERVED_SUBDOMAINS: ReadonlySet<string> = new Set([
  'management',
  'auth',
  'www',
  'api',
  'admin',
  'console',
  'health',
  'status',
  'mail',
  'contexts',
]);

/** 3 to 63 characters a-z, 0-9 and hyphens, no hyphen at either end, none at positions 3 and 4 together (RFC 5891 §4.2.3.1). */
export const SUBDOMAIN_PATTERN = /^(?!..--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;
export const SUBDOMAIN_FAULT =
  'must have 3 to 63 characters a-z, 0-9 and hyphens, with no hyphen at either end and not at both positions 3 and 4';

export const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** 32 characters, letters and digits. */
export const CLIENT_ID_PATTERN = /^[A-Za-z0-9]{32}$/;

export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID_PATTERN.test(value);
