import { AppError, type Environment } from '@attestry/contracts';
import { canonicalHost, hostOfAddress, splitTenantHost } from '../../tenants/directory/hosts.js';

export interface PlatformHosts {
  scheme: 'http' | 'https';
  managementDomain: string;
  environments: readonly Environment[];
}

export type TokenAudience =
  | { kind: 'management' }
  /** `host` canonical; the directory decides whether a tenant has it. */
  | { kind: 'tenant'; host: string; environment: Environment }
  /** This host issues no tokens for the audience. */
  | { kind: 'other' };

/** The token endpoint that received a request. */
type TokenHost = { kind: 'management' } | { kind: 'auth'; environment: Environment } | undefined;

const tokenHost = (publicUrl: string, { scheme, managementDomain, environments }: PlatformHosts): TokenHost => {
  const host = hostOfAddress(publicUrl, scheme);
  if (host === undefined) return undefined;
  if (host === canonicalHost(managementDomain, scheme)) return { kind: 'management' };
  const environment = environments.find((it) => canonicalHost(it.authorizationServerDomain, scheme) === host);
  return environment && { kind: 'auth', environment };
};

/**
 * The audience of a token request. Absent, or the management address, means the management API; on an authorization host any other address
 * is a tenant's. The management host issues only management tokens.
 * @param publicUrl scheme and host of the request
 */
export const tokenAudience = (audience: string | undefined, publicUrl: string, hosts: PlatformHosts): TokenAudience => {
  const at = tokenHost(publicUrl, hosts);
  if (!at) return { kind: 'other' };
  if (audience === undefined) return { kind: 'management' };
  const host = hostOfAddress(audience, hosts.scheme);
  if (host === undefined) return { kind: 'other' };
  if (host === canonicalHost(hosts.managementDomain, hosts.scheme)) return { kind: 'management' };
  return at.kind === 'auth' ? { kind: 'tenant', host, environment: at.environment } : { kind: 'other' };
};

/** The environment where a tenant could have the address; the directory is not asked. */
const environmentOf = (audience: string, hosts: PlatformHosts): Environment | undefined => {
  const host = hostOfAddress(audience, hosts.scheme);
  if (host === undefined || tokenHost(host, hosts)) return undefined;
  return splitTenantHost(host, hosts.environments, hosts.scheme)?.environment;
};

/**
 * The refusal of a call whose audience, by its text alone, is not the management API's nor a tenant's of this host, with the advice that a
 * tenant client needs one. It is the same for every client, known or not, and for every tenant.
 * @param audience absent or empty: the same advice
 * @param publicUrl scheme and host of the request
 */
export const withAudienceAdvice = (
  refusal: unknown,
  audience: string,
  publicUrl: string,
  hosts: PlatformHosts,
): unknown => {
  if (!(refusal instanceof AppError) || !(refusal.kind === 'invalid' || refusal.kind === 'unauthenticated'))
    return refusal;
  const at = tokenHost(publicUrl, hosts);
  const here = at?.kind === 'auth' ? at.environment : undefined;
  const named = environmentOf(audience, hosts);
  const isRight = named ? named === here : tokenAudience(audience, publicUrl, hosts).kind === 'management';
  if (isRight) return refusal;
  const { domain, authorizationServerDomain } = named ?? here ?? hosts.environments[0]!;
  const isHere = authorizationServerDomain === here?.authorizationServerDomain;
  const elsewhere = isHere ? '' : `, and call ${hosts.scheme}://${authorizationServerDomain}/oauth/token`;
  const advice = `tenant clients need audience, the address of the tenant: ${hosts.scheme}://<subdomain>.${domain}${elsewhere}`;
  const { kind, code, check, cause, message } = refusal;
  return new AppError(kind, `${message}; ${advice}`, { code, cause, ...(check !== undefined && { check }) });
};
