/** Which user has an e-mail address (decision 8). The address stands in the stream's name as its MAC, and nowhere in clear. */
export type UserEmailEvent =
  | { type: 'UserEmailClaimed'; data: { /** User id. */ owner: string; claimedAt: string } }
  | { type: 'UserEmailReleased'; data: { owner: string } };
