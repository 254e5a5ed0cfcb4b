import type { PlatformConfig } from '@attestry/service-kit';

export type Addresses = Pick<PlatformConfig, 'publicScheme' | 'managementDomain' | 'environments'>;

export const managementUrlOf = ({ publicScheme, managementDomain }: Addresses): string =>
  `${publicScheme}://${managementDomain}`;

/** The authorization host of the environment whose domain the host is, or is below. @param publicUrl scheme and canonical host */
export const authUrlOf = ({ publicScheme, environments }: Addresses, publicUrl: string): string => {
  const { host } = new URL(publicUrl);
  const own = environments
    .map((environment) => ({ ...environment, name: new URL(`${publicScheme}://${environment.domain}`).host }))
    .filter(({ name }) => host === name || host.endsWith(`.${name}`))
    // One environment may lie below another one.
    .sort((one, other) => other.name.length - one.name.length)[0];
  return `${publicScheme}://${(own ?? environments[0]!).authorizationServerDomain}`;
};

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (it) => `&#${it.charCodeAt(0)};`);
