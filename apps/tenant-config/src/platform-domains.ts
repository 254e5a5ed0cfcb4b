import type { PlatformConfig } from '@attestry/service-kit';

/** Host names the platform itself answers on, with all below them no tenant's to claim. */
export const platformDomains = (config: PlatformConfig): string[] => [
  ...new Set(
    [
      config.managementDomain,
      new URL(config.contextUrl).host,
      ...config.environments.flatMap(({ domain, authorizationServerDomain }) => [domain, authorizationServerDomain]),
    ].map((host) => host.replace(/:\d+$/, '').toLowerCase()),
  ),
];
