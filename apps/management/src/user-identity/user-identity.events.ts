/** Which user an identity (issuer and subject) is (decision 8). Both stand in the stream's name as a MAC. */
export type UserIdentityEvent = {
  type: 'UserIdentityClaimed';
  data: { /** User id. */ owner: string; claimedAt: string };
};
