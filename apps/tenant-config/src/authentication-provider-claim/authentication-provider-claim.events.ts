/** Which authentication provider is the tenant's only one, as a claim (ADR 0009). */
export type AuthenticationProviderClaimEvent =
  | { type: 'AuthenticationProviderClaimed'; data: { /** Provider id. */ owner: string; claimedAt: string } }
  | { type: 'AuthenticationProviderClaimReleased'; data: { owner: string } };
