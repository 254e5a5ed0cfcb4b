import { SUBDOMAIN_PATTERN, type Environment } from '@attestry/contracts';

const DEFAULT_PORT = { http: '80', https: '443' } as const;

/** A host name with or without port, no scheme and no path. */
const HOST = /^([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\.?(?::(\d{1,5}))?$/;

/**
 * Lower case, without a trailing dot, without the scheme's usual port; `undefined` for an invalid host. Deliberately stricter than a URL
 * parser, which drops tabs, decodes percent signs and takes backslashes for slashes.
 */
export const canonicalHost = (text: string, scheme: 'http' | 'https'): string | undefined => {
  const parts = HOST.exec(text.toLowerCase());
  if (!parts) return undefined;
  const [, name, port] = parts;
  if (port === undefined) return name;
  const number = Number(port);
  if (number < 1 || number > 65535) return undefined;
  return String(number) === DEFAULT_PORT[scheme] ? name : `${name}:${number}`;
};

/** The host of an address: with or without the platform's scheme, with or without one trailing slash. */
export const hostOfAddress = (address: string, scheme: 'http' | 'https'): string | undefined => {
  const lower = address.toLowerCase();
  const rest = lower.startsWith(`${scheme}://`) ? lower.slice(scheme.length + 3) : lower;
  return canonicalHost(rest.endsWith('/') ? rest.slice(0, -1) : rest, scheme);
};

type Domain = Pick<Environment, 'id' | 'domain'>;

export const tenantHost = (subdomain: string, environment: Pick<Environment, 'domain'>): string =>
  `${subdomain}.${environment.domain}`;

/** The environment and subdomain of a canonical host. */
export const splitTenantHost = <E extends Domain>(
  host: string,
  environments: readonly E[],
  scheme: 'http' | 'https',
): { environment: E; subdomain: string } | undefined => {
  for (const environment of environments) {
    const domain = canonicalHost(environment.domain, scheme);
    if (domain === undefined || !host.endsWith(`.${domain}`)) continue;
    const subdomain = host.slice(0, -domain.length - 1);
    if (SUBDOMAIN_PATTERN.test(subdomain)) return { environment, subdomain };
  }
  return undefined;
};
