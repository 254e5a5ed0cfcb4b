import type { Aggregate } from '@attestry/event-store';
import type {
  Grant,
  GrantedDetail,
  IssuanceSessionEvent,
  OfferEntry,
  SessionOrigin,
} from './issuance-session.events.js';

/** What stays the same from start to end. */
export interface SessionFacts {
  id: string;
  origin: SessionOrigin;
  issuer: string;
  binding: 'none';
  userId: string;
  entries: OfferEntry[];
  sealedClaims?: string;
}

export type IssuanceSessionState =
  | { status: 'absent' }
  | ({ status: 'offered'; code: Grant; wrongCodes: number } & SessionFacts)
  | ({
      status: 'redeemed';
      accessTokens: Grant[];
      authorizationDetails?: GrantedDetail[];
      /** Credentials issued so far, by configuration id. */
      issued: Record<string, number>;
    } & SessionFacts)
  | { status: 'locked'; id: string }
  | { status: 'deleted'; id: string };

/** A session whose code was exchanged. */
export type RedeemedSession = Extract<IssuanceSessionState, { status: 'redeemed' }>;

export const issuanceSessionStream = (tenantId: string, sessionId: string): string =>
  `issuanceSession-${tenantId}+${sessionId}`;

const evolve = (state: IssuanceSessionState, event: IssuanceSessionEvent): IssuanceSessionState => {
  switch (event.type) {
    case 'OfferCreated': {
      const { sessionId, origin, issuer, binding, userId, entries, code, sealedClaims } = event.data;
      return {
        status: 'offered',
        id: sessionId,
        origin,
        issuer,
        binding,
        userId,
        entries,
        code,
        wrongCodes: 0,
        ...(sealedClaims !== undefined && { sealedClaims }),
      };
    }
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
        accessTokens: [accessToken],
        issued: {},
        ...(authorizationDetails && { authorizationDetails }),
      };
    }
    case 'CredentialIssued': {
      if (state.status !== 'redeemed') return state;
      const id = event.data.credentialConfigurationId;
      return { ...state, issued: { ...state.issued, [id]: (state.issued[id] ?? 0) + 1 } };
    }
    case 'OfferDeleted':
      return { status: 'deleted', id: event.data.sessionId };
  }
};

export const issuanceSession: Aggregate<IssuanceSessionState, IssuanceSessionEvent> = {
  category: 'issuanceSession',
  initial: { status: 'absent' },
  types: {
    OfferCreated: 1,
    TransactionCodeRefused: 1,
    SessionLocked: 1,
    PreAuthorizedCodeRedeemed: 1,
    CredentialIssued: 1,
    OfferDeleted: 1,
  },
  evolve,
};
