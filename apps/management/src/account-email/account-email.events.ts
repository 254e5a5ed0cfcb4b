/** Which account of the built-in sign-in an e-mail address belongs to, as a claim (ADR 0009). The address stands in the stream's name as its MAC. */
export type AccountEmailEvent = {
  type: 'AccountEmailClaimed';
  data: { /** Account id. */ owner: string; claimedAt: string };
};
