import { Injectable } from '@nestjs/common';
import type { CredentialFormat } from '@attestry/contracts';
import { declareTables, defineProjection, ReadModels } from '@attestry/read-model';
import { Health, ReadModel } from '@attestry/service-kit';
import type { ActiveConfiguration } from './credential-configuration.decisions.js';
import type { PinnedIssuerKey } from './credential-configuration.events.js';
import { credentialConfiguration } from './credential-configuration.state.js';

export interface ConfigurationTables {
  issuance_configurations: {
    tenant_id: string;
    id: string;
    format: CredentialFormat;
    type: string;
    /** JSON of PinnedIssuerKey, or null. */
    issuer_key: string;
    /** JSON of ConfigurationContent. */
    content: string;
    version: number;
    created_at: string;
  };
}

export type ConfigurationRow = ConfigurationTables['issuance_configurations'];

export const configurationOfRow = (row: ConfigurationRow): ActiveConfiguration => {
  const issuerKey = JSON.parse(row.issuer_key) as PinnedIssuerKey | null;
  return {
    status: 'active',
    id: row.id,
    format: row.format,
    type: row.type,
    ...(issuerKey && { issuerKey }),
    content: JSON.parse(row.content) as ActiveConfiguration['content'],
    createdAt: row.created_at,
    version: row.version,
  };
};

const tables = declareTables<ConfigurationTables>({
  issuance_configurations: {
    text: ['tenant_id', 'id', 'format', 'type', 'issuer_key', 'content', 'created_at'],
    integer: ['version'],
    primaryKey: ['tenant_id', 'id'],
    indexes: { issuance_configurations_by_time: ['tenant_id', 'format', 'created_at', 'id'] },
  },
});
const { issuance_configurations: rows } = tables;

export const configurations = defineProjection({
  name: 'issuance.configurations',
  version: 1,
  aggregates: [credentialConfiguration],
  tables,
  on: {
    CredentialConfigurationCreated: ({ data }, { tenantId, id }) =>
      rows.insert({
        tenant_id: tenantId,
        id,
        format: data.format,
        type: data.credentialType,
        issuer_key: JSON.stringify(data.issuerKey ?? null),
        content: JSON.stringify(data.content),
        version: 1,
        created_at: data.createdAt,
      }),
    // The version is the number of events.
    CredentialConfigurationContentReplaced: ({ data }, { tenantId, id, revision }) =>
      rows.set({ tenant_id: tenantId, id }, { content: JSON.stringify(data.content), version: revision + 1 }),
    CredentialConfigurationDeleted: (_, { tenantId, id }) => rows.remove({ tenant_id: tenantId, id }),
  },
});

@Injectable()
export class ConfigurationsReadModel extends ReadModel<ConfigurationTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, configurations);
  }

  ofTenant(tenantId: string) {
    return this.running.db.selectFrom('issuance_configurations').selectAll().where('tenant_id', '=', tenantId);
  }

  /** All of a tenant, oldest first: for the issuer metadata. */
  async listAll(tenantId: string): Promise<ActiveConfiguration[]> {
    const rows = await this.ofTenant(tenantId).orderBy('created_at').orderBy('id').execute();
    return rows.map(configurationOfRow);
  }
}
