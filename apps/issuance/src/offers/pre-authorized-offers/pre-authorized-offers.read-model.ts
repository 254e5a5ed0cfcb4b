import { Injectable } from '@nestjs/common';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { BatchedRows, createTable, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
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

interface Changed {
  tenantId: string;
  id: string;
  events: IssuanceSessionEvent[];
}

/** Events of offers by session, in the order of the first of each; sessions of the authorization code flow are left out. */
const changesOf = (events: readonly RecordedEvent[]): Changed[] => {
  const sessions = new Map<string, Changed>();
  for (const stored of events) {
    const event = readEvent(issuanceSession, stored);
    const { tenantId } = stored.metadata;
    const id = stored.stream.slice(`${issuanceSession.category}-${tenantId}+`.length);
    if (!concernsOffer(event, id)) continue;
    const changed = sessions.get(stored.stream) ?? { tenantId, id, events: [] };
    changed.events.push(event);
    sessions.set(stored.stream, changed);
  }
  return [...sessions.values()];
};

/** Whether the event changes what is shown of a pre-authorized offer. */
const concernsOffer = (event: IssuanceSessionEvent, sessionId: string): boolean => {
  switch (event.type) {
    case 'OfferCreated':
    case 'PreAuthorizedCodeRedeemed':
    case 'SessionLocked':
    case 'OfferDeleted':
    case 'TokensRevoked':
    case 'IssuanceDeferred':
    case 'DeferredIssuanceDenied':
    case 'DeferredIssuanceCompleted':
      return true;
    case 'CredentialIssued':
      return event.data.offerId === sessionId;
    default:
      return false;
  }
};

const AGGREGATES = [user, issuanceSession] as const;

export const preAuthorizedOffers: Projection<OfferTables> = purgingTenants('issuance', {
  name: 'issuance.offers',
  version: 1,
  categories: AGGREGATES.map(({ category }) => category),
  types: AGGREGATES.flatMap(({ types }) => Object.keys(types)),
  tables: ['issuance_offers'],
  async create(db) {
    await createTable(db, 'issuance_offers', {
      text: ['tenant_id', 'id', 'user_id', 'created_at', 'record'],
      primaryKey: ['tenant_id', 'id'],
      indexes: {
        issuance_offers_by_time: ['tenant_id', 'created_at', 'id'],
        issuance_offers_by_user: ['user_id', 'tenant_id'],
      },
    });
  },
  async project(trx, events) {
    const isOfUser = ({ stream }: RecordedEvent) => stream.startsWith(`${user.category}-`);
    const changes = changesOf(events.filter((stored) => !isOfUser(stored)));
    const known = changes.filter((one) => one.events[0]!.type !== 'OfferCreated').map(({ id }) => id);
    const stored = known.length
      ? await trx
          .selectFrom('issuance_offers')
          .selectAll()
          .where('tenant_id', 'in', [...new Set(changes.map(({ tenantId }) => tenantId))])
          .where('id', 'in', known)
          .execute()
      : [];
    const records = new Map(stored.map((row) => [`${row.tenant_id} ${row.id}`, JSON.parse(row.record) as OfferRecord]));
    const rows = new BatchedRows<OfferTables, 'issuance_offers'>(trx, 'issuance_offers', ['tenant_id', 'id']);
    for (const { tenantId, id, events: ofOffer } of changes) {
      const before = records.get(`${tenantId} ${id}`);
      const record = ofOffer.reduce<OfferRecord | undefined>(
        (one, event) => recordAfter(one, event, MAX_LISTED),
        before,
      );
      // Without one the user was deleted.
      if (!record) continue;
      const row = { tenant_id: tenantId, id, user_id: record.userId, created_at: record.createdAt };
      if (before) rows.put({ ...row, record: JSON.stringify(record) });
      else rows.insert({ ...row, record: JSON.stringify(record) });
    }
    await rows.write();
    for (const event of events.filter(isOfUser)) await removeDeleted(trx, event);
  },
});

/** A user who ended with an offer that expired does not hide it. */
const removeDeleted = async (trx: Parameters<typeof preAuthorizedOffers.project>[0], stored: RecordedEvent) => {
  const event = readEvent(user, stored);
  if (event.type !== 'UserDeleted') return;
  await trx
    .deleteFrom('issuance_offers')
    .where('user_id', '=', event.data.userId)
    .where('tenant_id', '=', stored.metadata.tenantId)
    .execute();
};

/** A tenant's pre-authorized offers, their states and what was issued from them. */
@Injectable()
export class PreAuthorizedOffersReadModel extends ReadModel<OfferTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, preAuthorizedOffers);
  }
}
