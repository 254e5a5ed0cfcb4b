import { Injectable } from '@nestjs/common';
import type { DeferredIssuance } from '@attestry/contracts';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import type { Transaction } from 'kysely';
import type {
  IssuanceDeferredData,
  IssuanceSessionEvent,
} from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
import type { UserEvent } from '../../users/user/user.events.js';
import { user } from '../../users/user/user.state.js';

export interface DeferredIssuanceTables {
  issuance_deferred: {
    tenant_id: string;
    id: string;
    session_id: string;
    user_id: string;
    state: DeferredIssuance['state'];
    created_at: string;
    expires_at: string;
    /** JSON of DeferredIssuance without the state. */
    record: string;
  };
}
type Row = DeferredIssuanceTables['issuance_deferred'];

const rowOf = (tenantId: string, data: IssuanceDeferredData): Row => {
  const record: Omit<DeferredIssuance, 'state'> = {
    id: data.deferralId,
    credentialConfigurationId: data.credentialConfigurationId,
    credentialConfigurationVersion: data.configurationVersion,
    ...(data.credentialIdentifier !== undefined && { credentialIdentifier: data.credentialIdentifier }),
    userId: data.userId,
    sessionId: data.sessionId,
    ...(data.offerId !== undefined && { offerId: data.offerId }),
    credentials: data.holders.length,
    createdAt: data.deferredAt,
    expiresAt: data.transaction.expiresAt,
  };
  return {
    tenant_id: tenantId,
    id: data.deferralId,
    session_id: data.sessionId,
    user_id: data.userId,
    state: data.needsApproval ? 'PENDING' : 'APPROVED',
    created_at: data.deferredAt,
    expires_at: data.transaction.expiresAt,
    record: JSON.stringify(record),
  };
};

export const viewOfRow = ({ state, record }: Row): DeferredIssuance => {
  const { id, ...facts } = JSON.parse(record) as Omit<DeferredIssuance, 'state'>;
  return { id, state, ...facts };
};

const AGGREGATES = [issuanceSession, user] as const;
/** The others, most of them issued credentials, are not parsed. */
const READ: ReadonlySet<string> = new Set<(IssuanceSessionEvent | UserEvent)['type']>([
  'IssuanceDeferred',
  'DeferredIssuanceApproved',
  'DeferredIssuanceDenied',
  'DeferredIssuanceCompleted',
  'AuthorizationCodeReplayed',
  'TokensRevoked',
  'OfferDeleted',
  'UserDeleted',
  'UserExpired',
]);
const STATE_OF = {
  DeferredIssuanceApproved: 'APPROVED',
  DeferredIssuanceDenied: 'DENIED',
  DeferredIssuanceCompleted: 'ISSUED',
} as const;

const remove = (trx: Transaction<DeferredIssuanceTables>, tenantId: string) =>
  trx.deleteFrom('issuance_deferred').where('tenant_id', '=', tenantId);

/** Changes by the events of a user and of a session, one after the other: they are rare. */
const projectEvent = async (trx: Transaction<DeferredIssuanceTables>, stored: RecordedEvent): Promise<void> => {
  const { tenantId } = stored.metadata;
  if (stored.stream.startsWith(`${user.category}-`)) {
    const event = readEvent(user, stored);
    if (event.type === 'UserDeleted' || event.type === 'UserExpired')
      await remove(trx, tenantId).where('user_id', '=', event.data.userId).execute();
    return;
  }
  const event = readEvent(issuanceSession, stored);
  switch (event.type) {
    case 'IssuanceDeferred':
      // Nothing reads those that have expired.
      await remove(trx, tenantId).where('expires_at', '<', event.data.deferredAt).execute();
      await insertRows(trx, 'issuance_deferred', [rowOf(tenantId, event.data)]);
      break;
    case 'DeferredIssuanceApproved':
    case 'DeferredIssuanceDenied':
    case 'DeferredIssuanceCompleted':
      await trx
        .updateTable('issuance_deferred')
        .set({ state: STATE_OF[event.type] })
        .where('tenant_id', '=', tenantId)
        .where('id', '=', event.data.deferralId)
        .execute();
      break;
    case 'AuthorizationCodeReplayed':
    case 'TokensRevoked':
    case 'OfferDeleted':
      await remove(trx, tenantId).where('session_id', '=', event.data.sessionId).execute();
  }
};

export const deferredIssuances: Projection<DeferredIssuanceTables> = purgingTenants('issuance', {
  name: 'issuance.deferred',
  version: 1,
  categories: AGGREGATES.map(({ category }) => category),
  types: AGGREGATES.flatMap(({ types }) => Object.keys(types)),
  tables: ['issuance_deferred'],
  async create(db) {
    await createTable(db, 'issuance_deferred', {
      text: ['tenant_id', 'id', 'session_id', 'user_id', 'state', 'created_at', 'expires_at', 'record'],
      primaryKey: ['id', 'tenant_id'],
      indexes: {
        issuance_deferred_by_time: ['tenant_id', 'created_at', 'id'],
        issuance_deferred_by_session: ['tenant_id', 'session_id'],
        issuance_deferred_by_user: ['tenant_id', 'user_id'],
        issuance_deferred_by_end: ['tenant_id', 'expires_at'],
      },
    });
  },
  async project(trx, events) {
    for (const stored of events) if (READ.has(stored.type)) await projectEvent(trx, stored);
  },
});

/** How long a deferral that is not known here may take to appear. */
const CATCH_UP_MS = 1000;

/** Deferred issuances that have not expired, for the issuer. */
@Injectable()
export class DeferredIssuancesReadModel extends ReadModel<DeferredIssuanceTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, deferredIssuances);
  }

  rowsOf(tenantId: string, now: Date) {
    return this.running.db
      .selectFrom('issuance_deferred')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('expires_at', '>', now.toISOString());
  }

  /** Id of the session, whose events decide. */
  async findSession(tenantId: string, id: string, now: Date): Promise<string | undefined> {
    const find = async () => (await this.rowsOf(tenantId, now).where('id', '=', id).executeTakeFirst())?.session_id;
    return (await find()) ?? ((await this.running.waitForHead(CATCH_UP_MS)) ? find() : undefined);
  }
}
