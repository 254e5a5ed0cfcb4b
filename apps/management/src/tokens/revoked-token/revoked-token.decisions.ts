import type { RevokedTokenEvent } from './revoked-token.events.js';
import type { RevokedTokenState } from './revoked-token.state.js';

export interface RevocableToken {
  tokenId: string;
  clientId: string;
  /** RFC 3339, UTC, milliseconds. */
  expiresAt: string;
}

/** No event for a token of another client, an expired one, and a revoked one: the response is the same (RFC 7009 §2.2). */
export const revokeToken = (
  state: RevokedTokenState,
  { token, clientId }: { token: RevocableToken; clientId: string },
  { now }: { now: string },
): RevokedTokenEvent[] =>
  state.status === 'absent' && token.clientId === clientId && now < token.expiresAt
    ? [{ type: 'TokenRevoked', data: { ...token, revokedAt: now } }]
    : [];
