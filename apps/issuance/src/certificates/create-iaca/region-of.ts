interface Environment {
  domain: string;
  region: { name: string };
}

/**
 * Region of the tenant with this host. Where domains of environments nest, the longest one is the tenant's; one that serves tenants only at
 * custom domains has the region of the first environment.
 */
export const regionOf = (host: string, environments: readonly Environment[]): string => {
  const [environment = environments[0]!] = environments
    .filter(({ domain }) => withoutPort(host).endsWith(`.${withoutPort(domain)}`))
    .sort((one, other) => other.domain.length - one.domain.length);
  return environment.region.name;
};

const withoutPort = (name: string): string => name.replace(/:\d+$/, '');
