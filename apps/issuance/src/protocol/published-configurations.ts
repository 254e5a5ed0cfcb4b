import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { ConfigurationsReadModel } from '../credential-configuration/configurations.read-model.js';

interface Published {
  /** Ids and versions of what `configurations` holds. */
  fingerprint: string;
  configurations: readonly ActiveConfiguration[];
}

/**
 * The configurations that metadata publishes. Kept in memory per tenant and read anew when the list of ids and versions
 * shows a change, so metadata is never behind what the list operations show.
 */
@Injectable()
export class PublishedConfigurations {
  private readonly known = new LRUCache<string, Published>({ max: 500 });

  constructor(private readonly readModel: ConfigurationsReadModel) {}

  /** Oldest first; the same array as long as nothing changed. */
  async listActive(tenantId: string): Promise<readonly ActiveConfiguration[]> {
    const rows = await this.readModel.running.db
      .selectFrom('issuance_configurations')
      .select(['id', 'version'])
      .where('tenant_id', '=', tenantId)
      .orderBy('id')
      .execute();
    const fingerprint = rows.map(({ id, version }) => `${id}@${version}`).join(' ');
    const known = this.known.get(tenantId);
    if (known?.fingerprint === fingerprint) return known.configurations;
    const configurations = await this.readModel.all(tenantId);
    // Told from what was read, not from the look before: a change in between is then found by the next call.
    const read = configurations.map(({ id, version }) => `${id}@${version}`);
    this.known.set(tenantId, { fingerprint: read.sort().join(' '), configurations });
    return configurations;
  }
}
