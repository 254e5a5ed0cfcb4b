/** Which user a person of an authentication provider is, as a claim that is never released (ADR 0009). `owner`: user id. */
export type UserLinkEvent = { type: 'UserLinkClaimed'; data: { owner: string; claimedAt: string } };
