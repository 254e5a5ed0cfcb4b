import type { ActiveConfiguration } from './credential-configuration.decisions.js';

/** Host of a did:web, and port where there is one, in lower case; `undefined` for other DIDs. */
export const didWebHost = (did: string): string | undefined =>
  /^did:web:([^:]+)(?::|$)/.exec(did)?.[1]?.toLowerCase().replace('%3a', ':');

/** How many configurations issue under a domain: without it their credentials cannot be verified. */
export const countUnder = (configurations: readonly Pick<ActiveConfiguration, 'issuerKey'>[], domain: string): number =>
  configurations.filter(({ issuerKey }) => didWebHost(issuerKey.did) === domain).length;
