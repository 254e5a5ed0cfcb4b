import type { Grant } from '../../sessions/issuance-session/issuance-session.events.js';

/** Why a family ended before its refresh token expired. */
export type FamilyEnd =
  /** The wallet revoked a token of it (RFC 7009). */
  | 'revoked'
  /** The code was used a second time (RFC 6749 §4.1.2). */
  | 'codeReplayed'
  | 'personDeleted'
  /** The wallet was disabled or deleted. */
  | 'walletEnded';

/** A refresh token and the access tokens from it. No event per refresh: those access tokens are MACs (ADR 0090). */
export type TokenFamilyEvent =
  | {
      /** With the exchange of an authorization code; counts only where the session names the family. */
      type: 'TokenFamilyBegan';
      data: {
        /** uuid */
        familyId: string;
        sessionId: string;
        userId: string;
        clientId: string;
        /** Id of a registered wallet. */
        walletId?: string;
        /** Thumbprint of the DPoP key of the token request: every refresh proves it (RFC 9449 §5). */
        jkt?: string;
        /** Thumbprint of the attested key of the token request: every refresh proves it (attestation-based client authentication §9.3). */
        instanceJkt?: string;
        /** Never replaced (FAPI 2.0 Security Profile §5.3.2.1). */
        refreshToken: Grant;
        beganAt: string;
      };
    }
  | { type: 'TokenFamilyEnded'; data: { familyId: string; sessionId: string; reason: FamilyEnd; endedAt: string } };

export type TokenFamilyData = Extract<TokenFamilyEvent, { type: 'TokenFamilyBegan' }>['data'];
