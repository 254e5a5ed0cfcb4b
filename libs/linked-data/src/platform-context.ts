/**
 * The platform's own context: every name of a tenant's claim or type becomes a term of this vocabulary, so that expansion drops nothing
 * (ADR 0060). It must never change: issued credentials are signed over it.
 */
export const platformContext = (contextUrl: string): object => ({
  '@context': { '@version': 1.1, '@vocab': `${contextUrl}#` },
});
