import { Injectable } from '@nestjs/common';
import { declareTables, defineProjection, nothing, ReadModels, type EventSource } from '@attestry/read-model';
import { Health, ReadModel } from '@attestry/service-kit';
import type { IssuanceSessionEvent } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { user } from '../../users/user/user.state.js';
import { recordAfter, type OfferRecord } from './offer-record.js';

export interface OfferTables {
  /** `record`: JSON of OfferRecord. */
  issuance_offers: { tenant_id: string; id: string; user_id: string; created_at: string; record: string };
}

/** Issued credentials of an offer that the list shows. */
const MAX_LISTED = 10;

const tables = declareTables<OfferTables>({
  issuance_offers: {
    text: ['tenant_id', 'id', 'user_id', 'created_at', 'record'],
    primaryKey: ['tenant_id', 'id'],
    indexes: {
      issuance_offers_by_time: ['tenant_id', 'created_at', 'id'],
      issuance_offers_by_user: ['user_id', 'tenant_id'],
    },
  },
});
const { issuance_offers: offers } = tables;

/** Sessions of the authorization code flow have no offer here, and those of a deleted user have none any more. */
const changeOffer = (event: IssuanceSessionEvent, { tenantId, id }: EventSource) =>
  offers.with({ tenant_id: tenantId, id }, ({ record }) => {
    const changed = recordAfter(JSON.parse(record) as OfferRecord, event, MAX_LISTED);
    return offers.set({ tenant_id: tenantId, id }, { record: JSON.stringify(changed) });
  });

export const preAuthorizedOffers = defineProjection({
  name: 'issuance.offers',
  version: 1,
  aggregates: [user, issuanceSession],
  tables,
  on: {
    PreAuthorizedOfferCreated: (event, { tenantId, id }) => {
      const record = recordAfter(undefined, event, MAX_LISTED)!;
      const { userId, createdAt } = record;
      return offers.insert({
        tenant_id: tenantId,
        id,
        user_id: userId,
        created_at: createdAt,
        record: JSON.stringify(record),
      });
    },
    PreAuthorizedCodeRedeemed: changeOffer,
    SessionLocked: changeOffer,
    PreAuthorizedOfferDeleted: changeOffer,
    TokensRevoked: changeOffer,
    IssuanceDeferred: changeOffer,
    DeferredIssuanceDenied: changeOffer,
    DeferredIssuanceCompleted: changeOffer,
    CredentialIssued: (event, source) => (event.data.offerId === source.id ? changeOffer(event, source) : []),
    // A user who ended with an offer that expired does not hide it.
    UserDeleted: ({ data }, { tenantId }) => offers.remove({ user_id: data.userId, tenant_id: tenantId }),
    AuthorizationGranted: nothing,
    AuthorizationCodeRedeemed: nothing,
    AuthorizationCodeReplayed: nothing,
    TransactionCodeRefused: nothing,
    ClaimSetsBound: nothing,
    DeferredIssuanceApproved: nothing,
    UserCreated: nothing,
    UserLinked: nothing,
    UserClaimsReplaced: nothing,
    UserExpired: nothing,
  },
});

/** A tenant's pre-authorized offers, their states and what was issued from them. */
@Injectable()
export class PreAuthorizedOffersReadModel extends ReadModel<OfferTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, preAuthorizedOffers);
  }
}
