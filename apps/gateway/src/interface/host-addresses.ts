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

/** In an OpenAPI document. */
export interface Server {
  url: string;
  description: string;
}

/** Servers that the interface documents name, beside the host that serves them. */
export const otherServersOf = ({
  publicScheme,
  environments,
  contextUrl,
}: Pick<PlatformConfig, 'publicScheme' | 'environments' | 'contextUrl'>): Readonly<
  Record<'auth' | 'contexts', readonly Server[]>
> => ({
  auth: environments.map(({ name, authorizationServerDomain }) => ({
    url: `${publicScheme}://${authorizationServerDomain}`,
    description: `The authorization host of the environment ${name}.`,
  })),
  contexts: [{ url: new URL(contextUrl).origin, description: 'The host of the JSON-LD context of the platform.' }],
});

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (it) => `&#${it.charCodeAt(0)};`);
