/** Statuses of a credential; `invalid` is final. */
export const CREDENTIAL_STATUSES = ['valid', 'suspended', 'invalid'] as const;
export type CredentialStatus = (typeof CREDENTIAL_STATUSES)[number];
