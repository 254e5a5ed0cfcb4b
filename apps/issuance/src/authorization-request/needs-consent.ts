import type { RedirectPolicy } from './redirect-policy.js';

/** Whether the issuer does not know the wallet at this address, so that the person must consent first (ADR 0085). */
export const needsConsent = (redirectUri: string, { allowed }: RedirectPolicy): boolean =>
  allowed === undefined && new URL(redirectUri).protocol === 'https:';
