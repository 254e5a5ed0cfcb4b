import type { ServiceName } from '@attestry/contracts';
import type { RecordedEvent, Streams } from '@attestry/event-store';
import { purgedTenant, type PurgedTenantEvent, type SelectiveProjection } from '@attestry/read-model';
import type { Kysely } from 'kysely';
import { serviceContext } from '../operations/event-context.js';
import type { Reactions } from './reactions.js';

/** Records every purged tenant in the service's own streams. `name` is the consumer's; permanent. */
export const recordPurgedTenants = (
  name: `${ServiceName}.purged-tenants`,
  reactions: Reactions,
  streams: Streams,
): void => {
  const service = name.slice(0, name.indexOf('.')) as ServiceName;
  const aggregate = purgedTenant(service);
  reactions.consumeEach(name, async ({ id, data, headers }) => {
    const { tenantId } = data as { tenantId: string };
    await streams.runDecision(
      aggregate,
      `${aggregate.category}-${tenantId}`,
      ({ status }): PurgedTenantEvent[] =>
        status === 'present' ? [{ type: 'TenantDataPurged', data: { tenantId } }] : [],
      { ...serviceContext(name, tenantId, headers['requestId'] ?? id), causationId: id },
    );
  });
};

/** A projection all of whose tables have a column `tenant_id`, and whose rows are deleted with their tenant. */
export const purgingTenants = <Tables>(
  service: ServiceName,
  projection: SelectiveProjection<Tables>,
): SelectiveProjection<Tables> => {
  const { category, types } = purgedTenant(service);
  return {
    ...projection,
    categories: [...projection.categories, category],
    types: [...projection.types, ...Object.keys(types)],
    async project(trx, events, to) {
      let before: RecordedEvent[] = [];
      for (const stored of events) {
        if (!stored.stream.startsWith(`${category}-`)) {
          before.push(stored);
          continue;
        }
        if (before.length) await projection.project(trx, before, to);
        before = [];
        const rows = trx as unknown as Kysely<{ [table: string]: { tenant_id: string } }>;
        for (const table of projection.tables as readonly string[])
          await rows.deleteFrom(table).where('tenant_id', '=', stored.metadata.tenantId).execute();
      }
      if (before.length) await projection.project(trx, before, to);
    },
  };
};
