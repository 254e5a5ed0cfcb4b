/** Which user has an e-mail address, as a claim (ADR 0009). The address stands in the stream's name as its MAC, and nowhere in clear. */
export type UserEmailEvent =
  | { type: 'UserEmailClaimed'; data: { /** User id. */ owner: string; claimedAt: string } }
  | { type: 'UserEmailReleased'; data: { owner: string } };
