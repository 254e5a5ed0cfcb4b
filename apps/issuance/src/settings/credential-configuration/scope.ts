import type { CredentialFormat } from '@attestry/contracts';

/** `<format>:<type>`; types use only characters that RFC 6749 §3.3 allows in a scope. */
export const scopeFor = (configuration: { format: CredentialFormat; type: string }): string =>
  `${configuration.format}:${configuration.type}`;
