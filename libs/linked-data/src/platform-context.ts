/**
 * The platform's own context: whatever a tenant calls a claim or a type becomes a term of this vocabulary, so that
 * expansion drops nothing (ADR 0060). It must never change: credentials in wallets were signed over it.
 */
export const platformContext = (contextUrl: string): object => ({
  '@context': { '@version': 1.1, '@vocab': `${contextUrl}#` },
});
