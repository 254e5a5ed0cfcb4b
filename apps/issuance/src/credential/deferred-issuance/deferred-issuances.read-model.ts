import { Injectable } from '@nestjs/common';
import type { DeferredIssuance } from '@attestry/contracts';
import { below, declareTables, defineProjection, nothing, ReadModels, type EventSource } from '@attestry/read-model';
import { Health, ReadModel } from '@attestry/service-kit';
import type { IssuanceDeferredData } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
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

const tables = declareTables<DeferredIssuanceTables>({
  issuance_deferred: {
    text: ['tenant_id', 'id', 'session_id', 'user_id', 'state', 'created_at', 'expires_at', 'record'],
    primaryKey: ['id', 'tenant_id'],
    indexes: {
      issuance_deferred_by_time: ['tenant_id', 'created_at', 'id'],
      issuance_deferred_by_session: ['tenant_id', 'session_id'],
      issuance_deferred_by_user: ['tenant_id', 'user_id'],
      issuance_deferred_by_end: ['tenant_id', 'expires_at'],
    },
  },
});
const { issuance_deferred: deferred } = tables;

const setState =
  (state: Row['state']) =>
  ({ data }: { data: { deferralId: string } }, { tenantId }: EventSource) =>
    deferred.set({ id: data.deferralId, tenant_id: tenantId }, { state });
const endSession = ({ data }: { data: { sessionId: string } }, { tenantId }: EventSource) =>
  deferred.remove({ tenant_id: tenantId, session_id: data.sessionId });
const endUser = ({ data }: { data: { userId: string } }, { tenantId }: EventSource) =>
  deferred.remove({ tenant_id: tenantId, user_id: data.userId });

export const deferredIssuances = defineProjection({
  name: 'issuance.deferred',
  version: 1,
  aggregates: [issuanceSession, user],
  tables,
  on: {
    IssuanceDeferred: ({ data }, { tenantId }) => [
      // Nothing reads those that have expired.
      deferred.remove({ tenant_id: tenantId, expires_at: below(data.deferredAt) }),
      deferred.insert(rowOf(tenantId, data)),
    ],
    DeferredIssuanceApproved: setState('APPROVED'),
    DeferredIssuanceDenied: setState('DENIED'),
    DeferredIssuanceCompleted: setState('ISSUED'),
    AuthorizationCodeReplayed: endSession,
    TokensRevoked: endSession,
    PreAuthorizedOfferDeleted: endSession,
    UserDeleted: endUser,
    UserExpired: endUser,
    PreAuthorizedOfferCreated: nothing,
    AuthorizationGranted: nothing,
    TransactionCodeRefused: nothing,
    SessionLocked: nothing,
    PreAuthorizedCodeRedeemed: nothing,
    AuthorizationCodeRedeemed: nothing,
    ClaimSetsBound: nothing,
    CredentialIssued: nothing,
    UserCreated: nothing,
    UserLinked: nothing,
    UserClaimsReplaced: nothing,
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
