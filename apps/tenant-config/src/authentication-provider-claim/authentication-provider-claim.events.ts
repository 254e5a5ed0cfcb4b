/** Which authentication provider is the tenant's one (decisions 8 and 33). */
export type AuthenticationProviderClaimEvent =
  | { type: 'AuthenticationProviderClaimed'; data: { /** Provider id. */ owner: string; claimedAt: string } }
  | { type: 'AuthenticationProviderClaimReleased'; data: { owner: string } };
