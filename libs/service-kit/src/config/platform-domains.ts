import type { PlatformConfig } from './config.js';

type Named = Pick<PlatformConfig, 'managementDomain' | 'contextUrl' | 'environments'>;

const nameOf = (host: string): string => host.replace(/:\d+$/, '').toLowerCase();

const platformHosts = (config: Named): string[] => [
  config.managementDomain,
  new URL(config.contextUrl).host,
  ...config.environments.flatMap(({ domain, authorizationServerDomain }) => [domain, authorizationServerDomain]),
];

/** Host names of the platform itself, without ports. They and all names below them cannot be claimed as custom domains. */
export const platformDomains = (config: Named): string[] => [...new Set(platformHosts(config).map(nameOf))];

/**
 * Whether a host, with or without port, belongs to the platform: one of its own, or any below, which are or may become tenants' hosts.
 * `localhost` is the machine; in development the platform uses one of its ports.
 */
export const platformHostTest = (config: Named): ((host: string) => boolean) => {
  const names = platformDomains(config);
  const exact = new Set([
    ...names.filter((name) => name.includes('.')),
    ...platformHosts(config).map((host) => host.toLowerCase()),
  ]);
  return (host) => {
    const name = nameOf(host);
    return exact.has(host.toLowerCase()) || exact.has(name) || names.some((own) => name.endsWith(`.${own}`));
  };
};
