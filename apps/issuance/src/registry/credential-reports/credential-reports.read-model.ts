import { Injectable } from '@nestjs/common';
import type { CredentialFormat, ReportedOperation } from '@attestry/contracts';
import { declareTables, defineProjection, nothing, ReadModels, type EventSource } from '@attestry/read-model';
import { Health, ReadModel } from '@attestry/service-kit';
import { issuanceSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { issuedCredential } from '../../sessions/issued-credential/issued-credential.state.js';

export interface CredentialReportTables {
  /** It has no personal data, and stays when a user is deleted. */
  issuance_credential_reports: {
    tenant_id: string;
    /** Begin of a quarter of an hour, UTC: `2026-01-31T09:15`. Days of every offset are made of whole ones. */
    quarter: string;
    operation: ReportedOperation;
    format: CredentialFormat;
    configuration_id: string;
    /** '' for changes of a status. */
    type: string;
    credentials: number;
  };
}
type Row = CredentialReportTables['issuance_credential_reports'];

const tables = declareTables<CredentialReportTables>({
  issuance_credential_reports: {
    text: ['tenant_id', 'quarter', 'operation', 'format', 'configuration_id', 'type'],
    integer: ['credentials'],
    primaryKey: ['tenant_id', 'quarter', 'operation', 'format', 'configuration_id', 'type'],
  },
});
const { issuance_credential_reports: reports } = tables;

/** @param time RFC 3339, UTC */
export const quarterOf = (time: string): string =>
  `${time.slice(0, 14)}${String(Math.floor(Number(time.slice(14, 16)) / 15) * 15).padStart(2, '0')}`;

interface Counted {
  format: CredentialFormat;
  credentialConfigurationId: string;
  credentialType?: string;
}

const count = (
  { tenantId }: EventSource,
  time: string,
  operation: ReportedOperation,
  { format, credentialConfigurationId, credentialType = '' }: Counted,
) => {
  const key: Omit<Row, 'credentials'> = {
    tenant_id: tenantId,
    quarter: quarterOf(time),
    operation,
    format,
    configuration_id: credentialConfigurationId,
    type: credentialType,
  };
  return [
    reports.insert({ ...key, credentials: 0 }),
    reports.with(key, ({ credentials }) => reports.set(key, { credentials: credentials + 1 })),
  ];
};

export const credentialReports = defineProjection({
  name: 'issuance.credential-reports',
  version: 1,
  aggregates: [issuanceSession, issuedCredential],
  tables,
  on: {
    CredentialIssued: ({ data }, source) => count(source, data.issuedAt, 'issued', data),
    CredentialStatusChanged: ({ data: { format, credentialConfigurationId, changedAt } }, source) =>
      count(source, changedAt, 'status_changed', { format, credentialConfigurationId }),
    // Without `CredentialIssued` the credential was not handed out (ADR 0070).
    CredentialRecorded: nothing,
    CredentialDeleted: nothing,
    PreAuthorizedOfferCreated: nothing,
    PreAuthorizedOfferDeleted: nothing,
    AuthorizationGranted: nothing,
    TransactionCodeRefused: nothing,
    SessionLocked: nothing,
    PreAuthorizedCodeRedeemed: nothing,
    AuthorizationCodeRedeemed: nothing,
    AuthorizationCodeReplayed: nothing,
    TokensRevoked: nothing,
    ClaimSetsBound: nothing,
    IssuanceDeferred: nothing,
    DeferredIssuanceApproved: nothing,
    DeferredIssuanceDenied: nothing,
    DeferredIssuanceCompleted: nothing,
  },
});

/** Part of a report that has one row. */
export type Group = Pick<Row, 'operation' | 'format' | 'configuration_id' | 'type' | 'credentials'>;

export interface ReportFilters {
  formats?: readonly CredentialFormat[];
  configurationId?: string;
}

/** Numbers of issued credentials, and of changes of their status. */
@Injectable()
export class CredentialReportsReadModel extends ReadModel<CredentialReportTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, credentialReports);
  }

  /** The first quarter with an entry, whatever its format. @param from, before quarters */
  async firstQuarter(tenantId: string, from: string, before: string): Promise<string | undefined> {
    const row = await this.within(tenantId, from, before)
      .select('quarter')
      .orderBy('quarter')
      .limit(1)
      .executeTakeFirst();
    return row?.quarter;
  }

  /** @param from, before quarters: of one day */
  async groupsOf(
    tenantId: string,
    from: string,
    before: string,
    { formats, configurationId }: ReportFilters,
  ): Promise<Group[]> {
    let rows = this.within(tenantId, from, before);
    if (formats) rows = rows.where('format', 'in', formats);
    if (configurationId !== undefined) rows = rows.where('configuration_id', '=', configurationId);
    const columns = ['operation', 'format', 'configuration_id', 'type'] as const;
    const found = await rows
      .select(({ fn }) => [...columns, fn.sum('credentials').as('credentials')])
      .groupBy(columns)
      .execute();
    return found.map((row) => ({ ...row, credentials: Number(row.credentials) }));
  }

  private within(tenantId: string, from: string, before: string) {
    return this.running.db
      .selectFrom('issuance_credential_reports')
      .where('tenant_id', '=', tenantId)
      .where('quarter', '>=', from)
      .where('quarter', '<', before);
  }
}
