/** Which user a person of an authentication provider is (decision 8). `owner`: user id. */
export type UserLinkEvent = { type: 'UserLinkClaimed'; data: { owner: string; claimedAt: string } };
