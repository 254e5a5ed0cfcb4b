import type { StoredValue } from '@attestry/keys';
import type { Grant, GrantedDetail } from '../issuance-session/issuance-session.events.js';

/**
 * Offers for the authorization code flow that have claim sets, a user or an expiry; all others are only a URI (ADR 0086). Authorization
 * requests name them by `issuer_state` (OID4VCI §5.1.3).
 */
export type AuthorizationOfferEvent =
  | {
      type: 'AuthorizationOfferCreated';
      data: {
        offerId: string;
        configurationIds: string[];
        /** The only user who can use it. Absent: any. */
        userId?: string;
        /** MAC of the value, with the offer's expiry. */
        issuerState: Grant;
        /** Identifiers of every configuration, when one has claim sets. */
        identifiers?: GrantedDetail[];
        /** JSON of the claim sets, stored with the offer's data key (purpose `session`, key id = offer id). */
        storedClaimSets?: StoredValue;
        createdAt: string;
      };
    }
  | { type: 'AuthorizationOfferDeleted'; data: { offerId: string; deletedAt: string } };

export type AuthorizationOfferData = Extract<AuthorizationOfferEvent, { type: 'AuthorizationOfferCreated' }>['data'];
