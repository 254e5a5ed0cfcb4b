import type { ActiveConfiguration } from './credential-configuration.decisions.js';

/** Host of a did:web or of a credential issuer identifier, and port where there is one, in lower case; `undefined` for other DIDs. */
export const issuerHost = (issuer: string): string | undefined => {
  const [, host, didHost] = /^(?:https?:\/\/([^/]+)|did:web:([^:]+))/.exec(issuer) ?? [];
  return (host ?? didHost)?.toLowerCase().replace('%3a', ':');
};

/** Whether the DID of a configuration is under a domain. */
export const isUnder = ({ issuerKey }: Pick<ActiveConfiguration, 'issuerKey'>, domain: string): boolean =>
  issuerKey !== undefined && issuerHost(issuerKey.did) === domain;
