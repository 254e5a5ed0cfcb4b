/** Reservation of a type name among a tenant's configurations of one format (ADR 0009). `owner`: configuration id. */
export type TypeClaimEvent =
  | { type: 'CredentialTypeClaimed'; data: { owner: string; claimedAt: string } }
  | { type: 'CredentialTypeReleased'; data: { owner: string } };
