import { Injectable } from '@nestjs/common';
import type { CredentialFormat } from '@attestry/contracts';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { insertRows, createTable, ReadModels, type Projection } from '@attestry/read-model';
import { purgingTenants, Health, ReadModel } from '@attestry/service-kit';
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

export const configurations: Projection<ConfigurationTables> = purgingTenants('issuance', {
  name: 'issuance.configurations',
  version: 1,
  categories: [credentialConfiguration.category],
  types: Object.keys(credentialConfiguration.types),
  tables: ['issuance_configurations'],
  async create(db) {
    await createTable(db, 'issuance_configurations', {
      text: ['tenant_id', 'id', 'format', 'type', 'issuer_key', 'content', 'created_at'],
      integer: ['version'],
      primaryKey: ['tenant_id', 'id'],
      indexes: { issuance_configurations_by_time: ['tenant_id', 'format', 'created_at', 'id'] },
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    for (const stored of events) {
      const event = readEvent(credentialConfiguration, stored);
      const { tenantId } = stored.metadata;
      const id = stored.stream.slice(`${credentialConfiguration.category}-${tenantId}+`.length);
      switch (event.type) {
        case 'CredentialConfigurationCreated':
          await insertRows(trx, 'issuance_configurations', [
            {
              tenant_id: tenantId,
              id,
              format: event.data.format,
              type: event.data.credentialType,
              issuer_key: JSON.stringify(event.data.issuerKey ?? null),
              content: JSON.stringify(event.data.content),
              version: 1,
              created_at: event.data.createdAt,
            },
          ]);
          break;
        case 'CredentialConfigurationContentReplaced':
          // The version is the number of events, so that a redelivered batch counts once.
          await trx
            .updateTable('issuance_configurations')
            .set({ content: JSON.stringify(event.data.content), version: stored.revision + 1 })
            .where('tenant_id', '=', tenantId)
            .where('id', '=', id)
            .execute();
          break;
        case 'CredentialConfigurationDeleted':
          await trx
            .deleteFrom('issuance_configurations')
            .where('tenant_id', '=', tenantId)
            .where('id', '=', id)
            .execute();
          break;
      }
    }
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
