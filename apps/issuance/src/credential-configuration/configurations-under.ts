import type { ActiveConfiguration } from './credential-configuration.decisions.js';

/** Host of a did:web or of a credential issuer identifier, and port where there is one, in lower case; `undefined` for other DIDs. */
export const issuerHost = (issuer: string): string | undefined => {
  const [, host, didHost] = /^(?:https?:\/\/([^/]+)|did:web:([^:]+))/.exec(issuer) ?? [];
  return (host ?? didHost)?.toLowerCase().replace('%3a', ':');
};

/** How many configurations issue under a domain: without it their credentials cannot be verified. */
export const countUnder = (configurations: readonly Pick<ActiveConfiguration, 'issuerKey'>[], domain: string): number =>
  configurations.filter(({ issuerKey }) => issuerKey !== undefined && issuerHost(issuerKey.did) === domain).length;
