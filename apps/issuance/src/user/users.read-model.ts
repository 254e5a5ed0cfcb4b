import { Injectable } from '@nestjs/common';
import type { UserCredential } from '@attestry/contracts';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { purgingTenants, Health, ReadModel } from '@attestry/service-kit';
import type { Transaction } from 'kysely';
import type { CredentialIssuedData } from '../issuance-session/issuance-session.events.js';
import { issuanceSession } from '../issuance-session/issuance-session.state.js';
import { user } from './user.state.js';

export interface UserTables {
  issuance_users: {
    tenant_id: string;
    id: string;
    sealed_claims: string | null;
    sealed_link: string | null;
    created_at: string;
  };
  /** Sessions whose own keys seal claims of a user. */
  issuance_user_sessions: { tenant_id: string; id: string; user_id: string };
  issuance_credentials: {
    tenant_id: string;
    id: string;
    user_id: string;
    issued_at: string;
    /** JSON of UserCredential. */
    record: string;
  };
}

const recordOf = (issued: CredentialIssuedData): UserCredential => ({
  id: issued.credentialId,
  type: issued.credentialType,
  profile: issued.profile,
  format: issued.format,
  sessionId: issued.sessionId,
  credentialConfigurationId: issued.credentialConfigurationId,
  devicePublicKey: issued.holderKey,
  issuedDate: issued.issuedAt,
  validFrom: issued.validFrom,
  ...(issued.validUntil !== undefined && { validUntil: issued.validUntil }),
  ...(issued.offerId !== undefined && { offerId: issued.offerId }),
  ...issued.digests,
});

type Rows = { [Table in keyof UserTables]: UserTables[Table][] };
const noRows = (): Rows => ({ issuance_users: [], issuance_user_sessions: [], issuance_credentials: [] });

/**
 * Buffered rows, a statement per table. Credentials of a deleted user are not written. A session is, as its event may come before that of
 * the user created with it.
 */
const writeRows = async (trx: Transaction<UserTables>, rows: Rows): Promise<void> => {
  const { issuance_users: users, issuance_user_sessions: sessions, issuance_credentials: credentials } = rows;
  await insertRows(trx, 'issuance_users', users);
  await insertRows(trx, 'issuance_user_sessions', sessions);
  if (!credentials.length) return;
  const present = await trx
    .selectFrom('issuance_users')
    .select(['tenant_id', 'id'])
    .where('id', 'in', [...new Set(credentials.map((row) => row.user_id))])
    .execute();
  const keys = new Set(present.map((row) => `${row.tenant_id} ${row.id}`));
  const remaining = credentials.filter((row) => keys.has(`${row.tenant_id} ${row.user_id}`));
  await insertRows(trx, 'issuance_credentials', remaining);
};

const removeUser = async (trx: Transaction<UserTables>, tenantId: string, userId: string): Promise<void> => {
  await trx.deleteFrom('issuance_users').where('tenant_id', '=', tenantId).where('id', '=', userId).execute();
  await trx
    .deleteFrom('issuance_user_sessions')
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', userId)
    .execute();
  await trx
    .deleteFrom('issuance_credentials')
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', userId)
    .execute();
};

/** Users and sessions are one projection: rows of a deleted user must not reappear, whatever was in flight. */
export const users: Projection<UserTables> = purgingTenants('issuance', {
  name: 'issuance.users',
  version: 2,
  categories: [user.category, issuanceSession.category],
  types: [...Object.keys(user.types), ...Object.keys(issuanceSession.types)],
  tables: ['issuance_users', 'issuance_user_sessions', 'issuance_credentials'],
  async create(db) {
    await createTable(db, 'issuance_users', {
      text: ['tenant_id', 'id', 'created_at'],
      nullableText: ['sealed_claims', 'sealed_link'],
      primaryKey: ['id', 'tenant_id'],
      indexes: { issuance_users_by_time: ['tenant_id', 'created_at', 'id'] },
    });
    await createTable(db, 'issuance_user_sessions', {
      text: ['tenant_id', 'id', 'user_id'],
      primaryKey: ['tenant_id', 'user_id', 'id'],
    });
    await createTable(db, 'issuance_credentials', {
      text: ['tenant_id', 'id', 'user_id', 'issued_at', 'record'],
      primaryKey: ['tenant_id', 'user_id', 'issued_at', 'id'],
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    let rows = noRows();
    const flush = async () => {
      await writeRows(trx, rows);
      rows = noRows();
    };
    for (const stored of events) {
      const { tenantId } = stored.metadata;
      const event = stored.stream.startsWith(`${user.category}-`)
        ? readEvent(user, stored)
        : readEvent(issuanceSession, stored);
      switch (event.type) {
        case 'UserCreated':
          rows.issuance_users.push({
            tenant_id: tenantId,
            id: event.data.userId,
            sealed_claims: event.data.sealedClaims ?? null,
            sealed_link: null,
            created_at: event.data.createdAt,
          });
          break;
        case 'UserLinked':
        case 'UserClaimsReplaced':
          await flush();
          await trx
            .updateTable('issuance_users')
            .set(
              event.type === 'UserLinked'
                ? { sealed_link: event.data.sealedLink }
                : { sealed_claims: event.data.sealedClaims },
            )
            .where('tenant_id', '=', tenantId)
            .where('id', '=', stored.stream.slice(`${user.category}-${tenantId}+`.length))
            .execute();
          break;
        case 'UserDeleted':
        case 'UserExpired':
          await flush();
          await removeUser(trx, tenantId, event.data.userId);
          break;
        case 'OfferCreated':
        case 'AuthorizationGranted':
          // `UserCreated` may follow, which then changes nothing (ADR 0071).
          if (event.type === 'OfferCreated' && event.data.newUser)
            rows.issuance_users.push({
              tenant_id: tenantId,
              id: event.data.userId,
              sealed_claims: null,
              sealed_link: null,
              created_at: event.data.createdAt,
            });
          if (event.data.sealedClaims !== undefined)
            rows.issuance_user_sessions.push({
              tenant_id: tenantId,
              id: event.data.sessionId,
              user_id: event.data.userId,
            });
          break;
        case 'CredentialIssued':
          rows.issuance_credentials.push({
            tenant_id: tenantId,
            id: event.data.credentialId,
            user_id: event.data.userId,
            issued_at: event.data.issuedAt,
            record: JSON.stringify(recordOf(event.data)),
          });
          break;
        case 'TransactionCodeRefused':
        case 'SessionLocked':
        case 'PreAuthorizedCodeRedeemed':
        case 'AuthorizationCodeRedeemed':
        case 'AuthorizationCodeReplayed':
        case 'OfferDeleted':
          break;
      }
    }
    await flush();
  },
});

/** A tenant's users, the sessions that hold claims of theirs, and the metadata of their credentials. */
@Injectable()
export class UsersReadModel extends ReadModel<UserTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, users);
  }

  /** Ids of the sessions whose keys seal claims of the user. */
  async sessionsOf(tenantId: string, userId: string): Promise<string[]> {
    const rows = await this.running.db
      .selectFrom('issuance_user_sessions')
      .select('id')
      .where('tenant_id', '=', tenantId)
      .where('user_id', '=', userId)
      .execute();
    return rows.map(({ id }) => id);
  }
}
