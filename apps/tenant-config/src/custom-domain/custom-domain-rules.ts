import { hasUserInformation, invalid, type CustomDomainRequest, type ErrorDetail } from '@attestry/contracts';

/** RFC 1123 §2.1: letters, digits and inner hyphens, 63 at most. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_HOST = 253;

/** Fault of a custom domain in lower case. @param platform the platform's own host names, which reserve all names below them */
const faultOfDomain = (domain: string, platform: readonly string[]): string | undefined => {
  if (domain.includes('://') || /[/?#@]/.test(domain)) return 'must be a host name without scheme and path';
  if (domain.includes(':')) return 'must be a host name without port';
  const labels = domain.split('.');
  // Browsers parse hosts in this way: one that ends in a number is an IPv4 address, whatever its notation.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!)) return 'must not be an IP address';
  if (domain.length > MAX_HOST || !labels.every((label) => LABEL.test(label)))
    return 'must be a host name (write internationalized names in their xn-- form)';
  if (labels.length < 2) return 'must have at least one dot';
  const own = platform.find((name) => domain === name || domain.endsWith(`.${name}`));
  return own === undefined
    ? undefined
    : `must not be a domain of the platform: ${own} and all names below it are reserved`;
};

const faultOfLogo = (text: string): string | undefined => {
  if (!URL.canParse(text)) return 'must be a valid URL';
  const { protocol, hostname } = new URL(text);
  if (protocol !== 'https:') return 'must use https';
  if (hasUserInformation(text)) return 'must not contain credentials';
  return hostname.includes('.') ? undefined : 'must have a public host name';
};

/**
 * The request with its domain in lower case.
 * @throws 400 with a detail per fault
 */
export const acceptedDomain = (request: CustomDomainRequest, platform: readonly string[]): CustomDomainRequest => {
  const domain = request.domain.toLowerCase();
  const faults: ErrorDetail[] = [];
  const addFault = (param: 'logoUrl' | 'domain', msg: string | undefined) => {
    const isEchoed = request[param].length <= MAX_HOST;
    if (msg) faults.push({ ...(isEchoed && { value: request[param] }), msg, param, location: 'body' });
  };
  addFault('logoUrl', faultOfLogo(request.logoUrl));
  addFault('domain', faultOfDomain(domain, platform));
  if (faults.length) throw invalid(...faults);
  return { name: request.name, logoUrl: request.logoUrl, domain };
};
