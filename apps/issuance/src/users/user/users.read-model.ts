import { Injectable } from '@nestjs/common';
import { unavailable, type CredentialFormat, type CredentialStatus, type UserCredential } from '@attestry/contracts';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { purgingTenants, Health, ReadModel } from '@attestry/service-kit';
import type { Transaction } from 'kysely';
import type { CredentialIssuedData } from '../../sessions/issuance-session/issuance-session.events.js';
import { authorizationOffer } from '../../sessions/authorization-offer/authorization-offer.state.js';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
import type { CredentialStatusChangedData } from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredential } from '../../sessions/issued-credential/issued-credential.state.js';
import { user } from './user.state.js';

export interface UserTables {
  issuance_users: {
    tenant_id: string;
    id: string;
    sealed_claims: string | null;
    sealed_link: string | null;
    created_at: string;
  };
  /** Sessions, and offers for one user, whose own keys seal claims of a user. */
  issuance_user_sessions: { tenant_id: string; id: string; user_id: string };
  issuance_credentials: {
    tenant_id: string;
    id: string;
    user_id: string;
    issued_at: string;
    configuration_id: string;
    format: CredentialFormat;
    type: string;
    /** '' for a credential without status. */
    status: CredentialStatus | '';
    /** JSON of UserCredential without the status. */
    record: string;
  };
}

/** Rows of earlier releases have no `status`. */
export const credentialOfRow = ({ record, status }: UserTables['issuance_credentials']): UserCredential => ({
  ...(JSON.parse(record) as UserCredential),
  ...(status && { status }),
});

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

type Rows = { [Table in keyof UserTables]: UserTables[Table][] } & {
  /** The last change of each credential, by tenant and id. */
  statuses: Map<string, CredentialStatusChangedData & { tenantId: string }>;
};
const noRows = (): Rows => ({
  issuance_users: [],
  issuance_user_sessions: [],
  issuance_credentials: [],
  statuses: new Map(),
});

/**
 * Buffered rows, a statement per table. Credentials of a deleted user are not written. A session is, as its event may come before that of
 * the user created with it.
 */
const writeRows = async (trx: Transaction<UserTables>, rows: Rows): Promise<void> => {
  const { issuance_users: users, issuance_user_sessions: sessions, issuance_credentials: credentials } = rows;
  await insertRows(trx, 'issuance_users', users);
  await insertRows(trx, 'issuance_user_sessions', sessions);
  if (credentials.length) await writeCredentials(trx, rows);
  for (const { tenantId, userId, issuedAt, credentialId, status } of rows.statuses.values())
    await trx
      .updateTable('issuance_credentials')
      .set({ status })
      .where('tenant_id', '=', tenantId)
      .where('user_id', '=', userId)
      .where('issued_at', '=', issuedAt)
      .where('id', '=', credentialId)
      .execute();
};

const writeCredentials = async (
  trx: Transaction<UserTables>,
  { issuance_credentials: credentials, statuses }: Rows,
): Promise<void> => {
  for (const row of credentials) {
    const key = `${row.tenant_id} ${row.id}`;
    row.status = statuses.get(key)?.status ?? row.status;
    statuses.delete(key);
  }
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

const AGGREGATES = [user, issuanceSession, authorizationOffer, issuedCredential] as const;

const eventOf = (stored: RecordedEvent) => {
  switch (stored.stream.slice(0, stored.stream.indexOf('-'))) {
    case user.category:
      return readEvent(user, stored);
    case issuedCredential.category:
      return readEvent(issuedCredential, stored);
    case authorizationOffer.category:
      return readEvent(authorizationOffer, stored);
    default:
      return readEvent(issuanceSession, stored);
  }
};

/** Users, sessions and credentials are one projection: rows of a deleted user must not reappear, whatever was in flight. */
export const users: Projection<UserTables> = purgingTenants('issuance', {
  name: 'issuance.users',
  version: 4,
  categories: AGGREGATES.map(({ category }) => category),
  types: AGGREGATES.flatMap(({ types }) => Object.keys(types)),
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
      text: ['tenant_id', 'id', 'user_id', 'issued_at', 'configuration_id', 'format', 'type', 'status', 'record'],
      primaryKey: ['tenant_id', 'user_id', 'issued_at', 'id'],
      indexes: {
        issuance_credentials_by_id: ['id', 'tenant_id'],
        issuance_credentials_by_format: ['tenant_id', 'format', 'issued_at', 'id'],
        issuance_credentials_by_type: ['tenant_id', 'format', 'type', 'issued_at', 'id'],
        issuance_credentials_by_status: ['tenant_id', 'status', 'issued_at', 'id'],
        issuance_credentials_by_configuration: ['tenant_id', 'configuration_id', 'status', 'issued_at', 'id'],
        issuance_credentials_by_format_and_status: ['tenant_id', 'format', 'status', 'issued_at', 'id'],
      },
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
      const event = eventOf(stored);
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
          if ((event.data.storedClaims ?? event.data.sealedClaims) !== undefined)
            rows.issuance_user_sessions.push({
              tenant_id: tenantId,
              id: event.data.sessionId,
              user_id: event.data.userId,
            });
          break;
        case 'AuthorizationOfferCreated':
          if (
            event.data.userId !== undefined &&
            (event.data.storedClaimSets ?? event.data.sealedClaimSets) !== undefined
          )
            rows.issuance_user_sessions.push({
              tenant_id: tenantId,
              id: event.data.offerId,
              user_id: event.data.userId,
            });
          break;
        case 'CredentialIssued':
          rows.issuance_credentials.push({
            tenant_id: tenantId,
            id: event.data.credentialId,
            user_id: event.data.userId,
            issued_at: event.data.issuedAt,
            configuration_id: event.data.credentialConfigurationId,
            format: event.data.format,
            type: event.data.credentialType,
            status: event.data.status ? 'valid' : '',
            record: JSON.stringify(recordOf(event.data)),
          });
          break;
        case 'CredentialStatusChanged':
          rows.statuses.set(`${tenantId} ${event.data.credentialId}`, { ...event.data, tenantId });
          break;
        case 'CredentialDeleted':
          await flush();
          await trx
            .deleteFrom('issuance_credentials')
            .where('tenant_id', '=', tenantId)
            .where('user_id', '=', event.data.userId)
            .where('issued_at', '=', event.data.issuedAt)
            .where('id', '=', event.data.credentialId)
            .execute();
          break;
        case 'AuthorizationOfferDeleted':
        case 'ClaimSetsBound':
        case 'CredentialRecorded':
        case 'TransactionCodeRefused':
        case 'SessionLocked':
        case 'PreAuthorizedCodeRedeemed':
        case 'AuthorizationCodeRedeemed':
        case 'AuthorizationCodeReplayed':
        case 'IssuanceDeferred':
        case 'DeferredIssuanceApproved':
        case 'DeferredIssuanceDenied':
        case 'DeferredIssuanceCompleted':
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

  /** Issued credentials of a format. @throws AppError 503 */
  credentialsOf(tenantId: string, format: CredentialFormat) {
    const { db, readsOwnVersion } = this.running;
    // The rows of earlier releases do not have the column.
    if (!readsOwnVersion) throw unavailable('The list of credentials is being built');
    return db
      .selectFrom('issuance_credentials')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('format', '=', format);
  }

  /** One of them, even if a wallet has only just collected it (ADR 0111). @throws AppError 503 */
  async findCredential(tenantId: string, format: CredentialFormat, id: string) {
    const find = () => this.credentialsOf(tenantId, format).where('id', '=', id).executeTakeFirst();
    const found = await find();
    if (found) return found;
    await this.running.ownWrites();
    return find();
  }

  /** Ids of the sessions and offers whose keys seal claims of the user. */
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
