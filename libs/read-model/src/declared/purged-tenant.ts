import type { Aggregate } from '@attestry/event-store';

export type PurgedTenantEvent = { type: 'TenantDataPurged'; data: { tenantId: string } };
type PurgedTenantState = { status: 'present' | 'purged' };

/** Records in a service's own streams that a tenant was purged: its projections delete the rows, also in a rebuild. */
export const purgedTenant = (service: string): Aggregate<PurgedTenantState, PurgedTenantEvent> => ({
  // Categories have no hyphen.
  category: `${service.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())}PurgedTenant`,
  initial: { status: 'present' },
  types: { TenantDataPurged: 1 },
  evolve: () => ({ status: 'purged' }),
});
