import { conflict, notFound } from '@attestry/contracts';
import type { StoredValue } from '@attestry/keys';
import type {
  AuthorizationRequestOrigin,
  BegunFamily,
  CodeRedeemed,
  Grant,
  GrantedDetail,
  IssuanceSessionEvent,
  OfferEntry,
  PreAuthorizedOfferOrigin,
} from './issuance-session.events.js';
import type { DeferredIssuance, IssuanceSessionState, RedeemedSession } from './issuance-session.state.js';

/** Wrong transaction codes that lock an offer. OID4VCI §13.6.3 */
const MAX_WRONG_CODES = 3;

export type OfferedSession = Extract<IssuanceSessionState, { status: 'offered' }>;
export type AuthorizedSession = Extract<IssuanceSessionState, { status: 'authorized' }>;

export const isExpired = (grant: Pick<Grant, 'expiresAt'>, now: Date): boolean =>
  Date.parse(grant.expiresAt) <= now.getTime();

/** One whose credentials the wallet may still collect. */
export type OpenDeferral = Extract<DeferredIssuance, { status: 'pending' | 'approved' }>;
export const isOpenDeferral = (deferral: DeferredIssuance, now: Date): deferral is OpenDeferral =>
  (deferral.status === 'pending' || deferral.status === 'approved') && !isExpired(deferral.transaction, now);

/** Whether credentials may be collected with a transaction id, also after the access token has expired. */
export const hasOpenDeferral = ({ deferrals = {} }: Pick<RedeemedSession, 'deferrals'>, now: Date): boolean =>
  Object.values(deferrals).some((deferral) => isOpenDeferral(deferral, now));

/** Whether credentials may still be requested, or collected with a transaction id after the access token has expired. */
export const hasRights = (session: RedeemedSession, now: Date): boolean =>
  !isExpired(session.accessToken, now) || hasOpenDeferral(session, now);

export interface NewOffer {
  sessionId: string;
  origin: PreAuthorizedOfferOrigin;
  issuer: string;
  userId: string;
  /** The user begins with this offer. */
  newUser?: true;
  entries: OfferEntry[];
  code: Grant;
  storedClaims?: StoredValue;
  /** Identifiers of every entry, where the offer has claim sets. */
  identifiers?: GrantedDetail[];
}

export const createOffer = (
  state: IssuanceSessionState,
  { identifiers, ...offer }: NewOffer,
  now: Date,
): IssuanceSessionEvent[] => {
  if (state.status !== 'absent') throw conflict('The offer exists already');
  return [
    { type: 'PreAuthorizedOfferCreated', data: { ...offer, binding: 'none', createdAt: now.toISOString() } },
    ...bound(offer.sessionId, identifiers),
  ];
};

const bound = (sessionId: string, identifiers: GrantedDetail[] | undefined): IssuanceSessionEvent[] =>
  identifiers ? [{ type: 'ClaimSetsBound', data: { sessionId, identifiers } }] : [];

/** A wrong transaction code counts, and the third ends the session. */
export const refuseTransactionCode = (session: OfferedSession, now: Date): IssuanceSessionEvent[] => {
  const at = now.toISOString();
  const refused: IssuanceSessionEvent = { type: 'TransactionCodeRefused', data: { refusedAt: at } };
  return session.wrongCodes + 1 < MAX_WRONG_CODES
    ? [refused]
    : [refused, { type: 'SessionLocked', data: { sessionId: session.id, lockedAt: at } }];
};

export interface Redemption {
  accessToken: Grant;
  /** When the token request has `authorization_details`, or the session binds claim sets. */
  authorizationDetails?: GrantedDetail[];
  /** Family for the code of an authorization request whose client proved a key. */
  tokenFamily?: BegunFamily;
}

/** The code is spent at the token endpoint (ADR 0059), after the checks in exchange-token. */
export const redeemCode = (session: OfferedSession, redemption: Redemption, now: Date): IssuanceSessionEvent[] => [
  { type: 'PreAuthorizedCodeRedeemed', data: redeemed(session, redemption, now) },
];

export interface NewAuthorization extends Omit<NewOffer, 'origin' | 'newUser'> {
  origin: AuthorizationRequestOrigin;
}

export const grantAuthorization = (
  state: IssuanceSessionState,
  { identifiers, ...authorization }: NewAuthorization,
  now: Date,
): IssuanceSessionEvent[] => {
  if (state.status !== 'absent') throw conflict('The session exists already');
  return [
    { type: 'AuthorizationGranted', data: { ...authorization, binding: 'none', grantedAt: now.toISOString() } },
    ...bound(authorization.sessionId, identifiers),
  ];
};

/** Redeems the code of a person's sign-in, like {@link redeemCode}. */
export const redeemAuthorizationCode = (
  session: AuthorizedSession,
  redemption: Redemption,
  now: Date,
): IssuanceSessionEvent[] => [{ type: 'AuthorizationCodeRedeemed', data: redeemed(session, redemption, now) }];

/** RFC 6749 §4.1.2: when a code is used twice, the code or its tokens are stolen. */
export const replayAuthorizationCode = (session: RedeemedSession, now: Date): IssuanceSessionEvent[] => [
  { type: 'AuthorizationCodeReplayed', data: { sessionId: session.id, replayedAt: now.toISOString() } },
];

/** All tokens of the session end (RFC 7009 §2.1). Nothing where they have ended, or were never issued. */
export const revokeTokens = (session: IssuanceSessionState, now: Date): IssuanceSessionEvent[] =>
  session.status === 'redeemed'
    ? [{ type: 'TokensRevoked', data: { sessionId: session.id, revokedAt: now.toISOString() } }]
    : [];

const redeemed = (
  { id, code, entries }: OfferedSession | AuthorizedSession,
  { accessToken, authorizationDetails, tokenFamily }: Redemption,
  now: Date,
): CodeRedeemed => ({
  sessionId: id,
  tokenId: code.tokenId,
  accessToken,
  scope: scopeOf(entries, authorizationDetails),
  ...(authorizationDetails && { authorizationDetails }),
  ...(tokenFamily && { tokenFamily }),
  redeemedAt: now.toISOString(),
});

/** Scopes of what a token covers, space-separated. */
export const scopeOf = (entries: readonly OfferEntry[], details?: readonly GrantedDetail[]): string => {
  const covered = details && new Set(details.map((detail) => detail.credentialConfigurationId));
  const scopes = entries
    .filter((entry) => !covered || covered.has(entry.credentialConfigurationId))
    .map((e) => e.scope);
  return [...new Set(scopes)].join(' ');
};

/** Unclaimed offers only; a terminal one answers 404 (ADR 0059). */
export const deleteOffer = (state: IssuanceSessionState, now: Date): IssuanceSessionEvent[] => {
  const open =
    (state.status === 'offered' && !isExpired(state.code, now)) ||
    (state.status === 'redeemed' &&
      state.origin.kind === 'preAuthorizedOffer' &&
      Object.keys(state.issued).length === 0 &&
      hasRights(state, now));
  if (!open) throw notFound();
  return [{ type: 'PreAuthorizedOfferDeleted', data: { sessionId: state.id, deletedAt: now.toISOString() } }];
};
