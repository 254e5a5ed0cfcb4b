import type { CredentialFormat } from '@attestry/contracts';

/** `<format>:<type>`; types use only characters a scope allows (decision 19). */
export const scopeFor = (configuration: { format: CredentialFormat; type: string }): string =>
  `${configuration.format}:${configuration.type}`;
