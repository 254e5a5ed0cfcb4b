import type { Environment } from '@attestry/contracts';
import { canonicalHost, hostOfAddress } from '../directory/hosts.js';

export interface PlatformHosts {
  scheme: 'http' | 'https';
  managementDomain: string;
  environments: readonly Environment[];
}

export type TokenAudience =
  | { kind: 'management' }
  /** `host` canonical; whether a tenant lives there is for the directory to say. */
  | { kind: 'tenant'; host: string; environment: Environment }
  /** Nothing that this host gives tokens for. */
  | { kind: 'other' };

/** Which of the platform's token endpoints a request came to. */
type TokenHost = { kind: 'management' } | { kind: 'auth'; environment: Environment } | undefined;

const tokenHost = (publicUrl: string, { scheme, managementDomain, environments }: PlatformHosts): TokenHost => {
  const host = hostOfAddress(publicUrl, scheme);
  if (host === undefined) return undefined;
  if (host === canonicalHost(managementDomain, scheme)) return { kind: 'management' };
  const environment = environments.find((it) => canonicalHost(it.authorizationServerDomain, scheme) === host);
  return environment && { kind: 'auth', environment };
};

/**
 * What a token is asked for. Absent, or the management address, means the management API; on an authorization host any
 * other address is a tenant's. On the management host there are management tokens only.
 * @param publicUrl scheme and host the request came to
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
