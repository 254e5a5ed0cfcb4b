/**
 * A client's access token that was revoked before it expired. Each has its own stream, so that no stream grows with the number of tokens.
 */
export type RevokedTokenEvent = {
  type: 'TokenRevoked';
  data: { tokenId: string; clientId: string; revokedAt: string; expiresAt: string };
};
