/** Which account of the built-in sign-in an e-mail address opens (decision 8). The address stands in the stream's name as its MAC. */
export type AccountEmailEvent = {
  type: 'AccountEmailClaimed';
  data: { /** Account id. */ owner: string; claimedAt: string };
};
