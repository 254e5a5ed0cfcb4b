import { Injectable } from '@nestjs/common';
import { type CredentialFormat, type CredentialStatus, type UserCredential } from '@attestry/contracts';
import { declareTables, defineProjection, nothing, ReadModels, type EventSource } from '@attestry/read-model';
import { Health, ReadModel } from '@attestry/service-kit';
import type { CredentialIssuedData } from '../../sessions/issuance-session/issuance-session.events.js';
import { authorizationOffer } from '../../sessions/authorization-offer/authorization-offer.state.js';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
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

const tables = declareTables<UserTables>({
  issuance_users: {
    text: ['tenant_id', 'id', 'created_at'],
    nullableText: ['sealed_claims', 'sealed_link'],
    primaryKey: ['id', 'tenant_id'],
    indexes: { issuance_users_by_time: ['tenant_id', 'created_at', 'id'] },
  },
  issuance_user_sessions: {
    text: ['tenant_id', 'id', 'user_id'],
    primaryKey: ['tenant_id', 'user_id', 'id'],
  },
  issuance_credentials: {
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
  },
});
const { issuance_users: persons, issuance_user_sessions: sessions, issuance_credentials: credentials } = tables;

const person = (
  { userId, createdAt, sealedClaims = null }: { userId: string; createdAt: string; sealedClaims?: string | null },
  { tenantId }: EventSource,
) =>
  persons.insert({
    tenant_id: tenantId,
    id: userId,
    sealed_claims: sealedClaims,
    sealed_link: null,
    created_at: createdAt,
  });

/** It is kept also without the user: its event may come before that of the user created with it. */
const session = ({ tenantId }: EventSource, id: string, userId: string, claims: unknown) =>
  claims === undefined ? [] : sessions.insert({ tenant_id: tenantId, id, user_id: userId });

const removePerson = ({ data: { userId } }: { data: { userId: string } }, { tenantId }: EventSource) => [
  persons.remove({ id: userId, tenant_id: tenantId }),
  sessions.remove({ tenant_id: tenantId, user_id: userId }),
  credentials.remove({ tenant_id: tenantId, user_id: userId }),
];

const credentialKey = (
  { credentialId, userId, issuedAt }: { credentialId: string; userId: string; issuedAt: string },
  { tenantId }: EventSource,
) => ({ tenant_id: tenantId, user_id: userId, issued_at: issuedAt, id: credentialId });

/** Users, sessions and credentials are one projection: rows of a deleted user must not reappear, whatever was in flight. */
export const users = defineProjection({
  name: 'issuance.users',
  version: 4,
  aggregates: [user, issuanceSession, authorizationOffer, issuedCredential],
  tables,
  on: {
    UserCreated: ({ data }, source) => person(data, source),
    UserLinked: ({ data }, { tenantId, id }) =>
      persons.set({ id, tenant_id: tenantId }, { sealed_link: data.sealedLink }),
    UserClaimsReplaced: ({ data }, { tenantId, id }) =>
      persons.set({ id, tenant_id: tenantId }, { sealed_claims: data.sealedClaims }),
    UserDeleted: removePerson,
    UserExpired: removePerson,
    PreAuthorizedOfferCreated: ({ data: { sessionId, userId, createdAt, newUser, storedClaims } }, source) => [
      // `UserCreated` may follow, which then changes nothing (ADR 0071).
      newUser ? person({ userId, createdAt }, source) : [],
      session(source, sessionId, userId, storedClaims),
    ],
    AuthorizationGranted: ({ data: { sessionId, userId, storedClaims } }, source) =>
      session(source, sessionId, userId, storedClaims),
    AuthorizationOfferCreated: ({ data: { offerId, userId, storedClaimSets } }, source) =>
      userId === undefined ? [] : session(source, offerId, userId, storedClaimSets),
    // One of a deleted user is not written.
    CredentialIssued: ({ data }, source) =>
      persons.ifExists(
        { id: data.userId, tenant_id: source.tenantId },
        credentials.insert({
          ...credentialKey(data, source),
          configuration_id: data.credentialConfigurationId,
          format: data.format,
          type: data.credentialType,
          status: data.status ? 'valid' : '',
          record: JSON.stringify(recordOf(data)),
        }),
      ),
    CredentialStatusChanged: ({ data }, source) =>
      credentials.set(credentialKey(data, source), { status: data.status }),
    CredentialDeleted: ({ data }, source) => credentials.remove(credentialKey(data, source)),
    AuthorizationOfferDeleted: nothing,
    ClaimSetsBound: nothing,
    CredentialRecorded: nothing,
    TransactionCodeRefused: nothing,
    SessionLocked: nothing,
    TokensRevoked: nothing,
    PreAuthorizedCodeRedeemed: nothing,
    AuthorizationCodeRedeemed: nothing,
    AuthorizationCodeReplayed: nothing,
    IssuanceDeferred: nothing,
    DeferredIssuanceApproved: nothing,
    DeferredIssuanceDenied: nothing,
    DeferredIssuanceCompleted: nothing,
    PreAuthorizedOfferDeleted: nothing,
  },
});

/** A tenant's users, the sessions that hold claims of theirs, and the metadata of their credentials. */
@Injectable()
export class UsersReadModel extends ReadModel<UserTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, users);
  }

  /** Issued credentials of a format. */
  credentialsOf(tenantId: string, format: CredentialFormat) {
    return this.running.db
      .selectFrom('issuance_credentials')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('format', '=', format);
  }

  /** One of them, even if a wallet has only just collected it (ADR 0111). */
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
