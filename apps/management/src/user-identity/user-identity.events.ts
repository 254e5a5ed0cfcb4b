/** Which user an identity (issuer and subject) belongs to, as a claim (ADR 0009). Both stand in the stream's name as a MAC. */
export type UserIdentityEvent = {
  type: 'UserIdentityClaimed';
  data: { /** User id. */ owner: string; claimedAt: string };
};
