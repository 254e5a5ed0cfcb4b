import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ActiveConfiguration } from './credential-configuration.decisions.js';
import { ConfigurationsReadModel } from './configurations.read-model.js';

interface Published {
  /** Ids and versions of `configurations`. */
  fingerprint: string;
  configurations: readonly ActiveConfiguration[];
}

/**
 * The configurations that metadata publishes. Cached in memory per tenant and read again when the list of ids and versions shows a change,
 * so metadata is never behind the list operations.
 */
@Injectable()
export class PublishedConfigurations {
  private readonly known = new LRUCache<string, Published>({ max: 500 });

  constructor(private readonly readModel: ConfigurationsReadModel) {}

  /** Oldest first; the same array as long as no configuration changed. */
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
    const configurations = await this.readModel.listAll(tenantId);
    // The versions of what was read, not of the query before: a change in between is then found by the next call.
    const read = configurations.map(({ id, version }) => `${id}@${version}`);
    this.known.set(tenantId, { fingerprint: read.sort().join(' '), configurations });
    return configurations;
  }
}
