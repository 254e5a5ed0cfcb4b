import type { Aggregate } from '@attestry/event-store';
import type { StoredValue } from '@attestry/keys';
import type {
  AuthorizationRequestOrigin,
  BegunFamily,
  Grant,
  GrantedDetail,
  IssuanceDeferredData,
  IssuanceSessionEvent,
  OfferEntry,
  PreAuthorizedOfferOrigin,
  SessionOrigin,
} from './issuance-session.events.js';

/** Members that do not change. */
export interface SessionFacts<Origin extends SessionOrigin = SessionOrigin> {
  id: string;
  origin: Origin;
  issuer: string;
  binding: 'none';
  userId: string;
  /** See `PreAuthorizedOfferCreated`. */
  newUser?: true;
  entries: OfferEntry[];
  storedClaims?: StoredValue;
  /** Identifiers of every entry, where the offer has claim sets; the claims then hold those, too. */
  identifiers?: GrantedDetail[];
}

type DeferredFacts = Pick<
  IssuanceDeferredData,
  'deferralId' | 'transaction' | 'credentialConfigurationId' | 'credentialIdentifier' | 'holders'
>;

/** An issuance that was deferred. Of those that have ended, the last {@link MOST_ENDED} are kept. */
export type DeferredIssuance =
  | ({ status: 'pending' | 'approved' } & DeferredFacts)
  | ({ status: 'denied' } & DeferredFacts)
  | { status: 'completed'; answerId: string; transaction: Grant };

export type IssuanceSessionState =
  | { status: 'absent' }
  | ({ status: 'offered'; code: Grant; wrongCodes: number } & SessionFacts<PreAuthorizedOfferOrigin>)
  | ({ status: 'authorized'; code: Grant } & SessionFacts<AuthorizationRequestOrigin>)
  | ({
      status: 'redeemed';
      /** The spent code of an authorization request, by which a second use is recognized. */
      spentCode?: Grant;
      /** The current one. */
      accessToken: Grant;
      authorizationDetails?: GrantedDetail[];
      /** Family of the refresh token. */
      tokenFamily?: BegunFamily;
      /** Credentials issued so far, by configuration id. */
      issued: Record<string, number>;
      /** By id; absent before the first. */
      deferrals?: Record<string, DeferredIssuance>;
    } & SessionFacts)
  | { status: 'locked'; id: string }
  | { status: 'revoked'; id: string }
  | { status: 'deleted'; id: string };

/** A session whose code was exchanged. */
export type RedeemedSession = Extract<IssuanceSessionState, { status: 'redeemed' }>;

export const issuanceSessionStream = (tenantId: string, sessionId: string): string =>
  `issuanceSession-${tenantId}+${sessionId}`;

const factsOf = <Origin extends SessionOrigin>({
  sessionId: id,
  storedClaims,
  newUser,
  ...data
}: Omit<SessionFacts<Origin>, 'id'> & { sessionId: string }): SessionFacts<Origin> => ({
  id,
  origin: data.origin,
  issuer: data.issuer,
  binding: data.binding,
  userId: data.userId,
  ...(newUser && { newUser }),
  entries: data.entries,
  ...(storedClaims && { storedClaims }),
});

const evolve = (state: IssuanceSessionState, event: IssuanceSessionEvent): IssuanceSessionState => {
  switch (event.type) {
    case 'PreAuthorizedOfferCreated':
      return { status: 'offered', ...factsOf(event.data), code: event.data.code, wrongCodes: 0 };
    case 'AuthorizationGranted':
      return { status: 'authorized', ...factsOf(event.data), code: event.data.code };
    case 'ClaimSetsBound':
      return state.status === 'offered' || state.status === 'authorized'
        ? { ...state, identifiers: event.data.identifiers }
        : state;
    case 'TransactionCodeRefused':
      return state.status === 'offered' ? { ...state, wrongCodes: state.wrongCodes + 1 } : state;
    case 'SessionLocked':
      return { status: 'locked', id: event.data.sessionId };
    case 'PreAuthorizedCodeRedeemed': {
      if (state.status !== 'offered') return state;
      const { code: _code, wrongCodes: _wrongCodes, ...facts } = state;
      const { accessToken, authorizationDetails } = event.data;
      return {
        ...facts,
        status: 'redeemed',
        accessToken,
        issued: {},
        ...(authorizationDetails && { authorizationDetails }),
      };
    }
    case 'AuthorizationCodeRedeemed': {
      if (state.status !== 'authorized') return state;
      const { code, ...facts } = state;
      const { accessToken, authorizationDetails, tokenFamily } = event.data;
      return {
        ...facts,
        status: 'redeemed',
        spentCode: code,
        accessToken,
        issued: {},
        ...(authorizationDetails && { authorizationDetails }),
        ...(tokenFamily && { tokenFamily }),
      };
    }
    case 'AuthorizationCodeReplayed':
    case 'TokensRevoked':
      return { status: 'revoked', id: event.data.sessionId };
    case 'CredentialIssued': {
      if (state.status !== 'redeemed') return state;
      const id = event.data.credentialConfigurationId;
      return { ...state, issued: { ...state.issued, [id]: (state.issued[id] ?? 0) + 1 } };
    }
    case 'IssuanceDeferred': {
      const { deferralId, transaction, credentialConfigurationId, credentialIdentifier, holders } = event.data;
      return withDeferral(withoutEarliest(state, event.data.deferredAt), deferralId, () => ({
        status: event.data.needsApproval ? 'pending' : 'approved',
        ...{ deferralId, transaction, credentialConfigurationId, holders },
        ...(credentialIdentifier !== undefined && { credentialIdentifier }),
      }));
    }
    case 'DeferredIssuanceApproved':
    case 'DeferredIssuanceDenied': {
      const status = event.type === 'DeferredIssuanceApproved' ? 'approved' : 'denied';
      return withDeferral(state, event.data.deferralId, (deferral) => ({ ...deferral, status }) as DeferredIssuance);
    }
    case 'DeferredIssuanceCompleted': {
      const { deferralId, answerId } = event.data;
      return withDeferral(state, deferralId, ({ transaction }) => ({ status: 'completed', answerId, transaction }));
    }
    case 'PreAuthorizedOfferDeleted':
      return { status: 'deleted', id: event.data.sessionId };
  }
};

/** Deferrals of a session that were collected, denied or not collected in time, and that are known until there are more. */
const MOST_ENDED = 100;

/** Sessions with a refresh token live for weeks: their state, which is copied with each event, must not grow with every deferral. */
const withoutEarliest = (state: IssuanceSessionState, now: string): IssuanceSessionState => {
  if (state.status !== 'redeemed' || !state.deferrals) return state;
  const kept = Object.entries(state.deferrals);
  const ended = kept.filter(
    ([, { status, transaction }]) => status === 'completed' || status === 'denied' || transaction.expiresAt <= now,
  );
  if (ended.length <= MOST_ENDED) return state;
  const dropped = new Set(ended.slice(0, -MOST_ENDED).map(([id]) => id));
  return { ...state, deferrals: Object.fromEntries(kept.filter(([id]) => !dropped.has(id))) };
};

const withDeferral = (
  state: IssuanceSessionState,
  id: string,
  change: (before: DeferredIssuance) => DeferredIssuance,
): IssuanceSessionState =>
  state.status === 'redeemed'
    ? { ...state, deferrals: { ...state.deferrals, [id]: change(state.deferrals?.[id] as DeferredIssuance) } }
    : state;

export const issuanceSession: Aggregate<IssuanceSessionState, IssuanceSessionEvent> = {
  category: 'issuanceSession',
  initial: { status: 'absent' },
  types: {
    PreAuthorizedOfferCreated: 3,
    ClaimSetsBound: 1,
    TransactionCodeRefused: 1,
    SessionLocked: 1,
    PreAuthorizedCodeRedeemed: 2,
    AuthorizationGranted: 3,
    AuthorizationCodeRedeemed: 2,
    AuthorizationCodeReplayed: 1,
    TokensRevoked: 1,
    CredentialIssued: 2,
    IssuanceDeferred: 1,
    DeferredIssuanceApproved: 1,
    DeferredIssuanceDenied: 1,
    DeferredIssuanceCompleted: 1,
    PreAuthorizedOfferDeleted: 1,
  },
  lowestVersions: {
    ...{ PreAuthorizedOfferCreated: 3, PreAuthorizedCodeRedeemed: 2 },
    ...{ AuthorizationGranted: 3, AuthorizationCodeRedeemed: 2 },
    CredentialIssued: 2,
  },
  evolve,
};
