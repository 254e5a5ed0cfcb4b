import { tenantPurged } from '@attestry/contracts';
import type { RunningProjection } from '@attestry/read-model';
import type { Kysely } from 'kysely';
import type { ServiceUnderTest } from './service-under-test.js';
import { waitUntil } from './wait-until.js';

const GONE = '30000000-0000-4000-8000-000000000001';
const ACTIVE = '30000000-0000-4000-8000-000000000002';

export interface PurgedTenants {
  service: ServiceUnderTest;
  /** Read models with the tables that must have rows once both tenants are filled. */
  models: () => [{ running: unknown }, ...string[]][];
  /** Makes what these tables list. */
  fill: (tenantId: string) => Promise<void>;
}

/** Behavior of every service when management has purged a tenant (ADR 0059). Jest's globals are used only when it is called. */
export const describePurgedTenants = ({ service, models, fill }: PurgedTenants): void => {
  beforeAll(() => service.open());
  afterAll(() => service.remove());

  const running = () =>
    models().map(([model]) => model.running as RunningProjection<Record<string, { tenant_id: string }>>);
  /** The tenants that have rows, by table. */
  const tenants = (): Promise<string[][]> =>
    Promise.all(
      models().flatMap(([model, ...tables]) =>
        tables.map(async (table) => {
          const { db } = model.running as { db: Kysely<Record<string, { tenant_id: string }>> };
          const found = await db.selectFrom(table).select('tenant_id').distinct().orderBy('tenant_id').execute();
          return found.map(({ tenant_id: tenantId }) => tenantId);
        }),
      ),
    );

  it("a purged tenant's rows are deleted and another's kept, also after a rebuild", async () => {
    for (const tenantId of [GONE, ACTIVE]) await fill(tenantId);
    for (const projection of running()) await projection.waitForHead(10_000);
    for (const found of await tenants()) expect(found).toEqual([GONE, ACTIVE]);
    const purged = {
      id: `purged-${GONE}`,
      subject: tenantPurged.subject,
      headers: { tenantId: GONE, requestId: 'purge', occurredAt: new Date().toISOString() },
      data: { tenantId: GONE },
    };
    // The event may be delivered twice.
    for (let n = 0; n < 2; n++) await service.engines.bus.publish([purged]);
    await waitUntil(async () => (await tenants()).every((found) => !found.includes(GONE)));
    expect(new Set((await tenants()).flat())).toEqual(new Set([ACTIVE]));
    for (const projection of running()) await projection.rebuild();
    for (const found of await tenants()) expect(found).toEqual([ACTIVE]);
    expect(service.engines.health.report().ready).toBe(true);
  });
};
