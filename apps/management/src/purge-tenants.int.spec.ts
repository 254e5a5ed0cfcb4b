/** @engines embedded postgres */
import { createTenant, deleteTenant, lookUpTenant, tenantPurged, type CreatedTenant } from '@attestry/contracts';
import { EventStoreUnavailable, readEvent, verifyChain, type Term } from '@attestry/event-store';
import { ERASED, KeyNotFound } from '@attestry/keys';
import { waitUntil } from '@attestry/testing';
import { ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { managementService } from './index.js';
import { PurgeTenants } from './tenants/purge-tenants/purge-tenants.js';
import { tenant, tenantStream } from './tenants/tenant/tenant.state.js';
import { TenantListsReadModel } from './tenants/tenant-lists/tenant-lists.read-model.js';

const DAY_MS = 86_400_000;
const clock = stoppedClock();
const service = new ServiceUnderTest(managementService, {
  settings: { BASE_DOMAIN: 'one.example', TENANT_PURGE_DAYS: '30' },
  clock,
  subjects: [tenantPurged.subject],
});
const { messages: feed } = service;
let environmentId: string;

const context = () => service.asManagement({ kind: 'management', clientId: 'boss' });
const create = (subdomain: string): Promise<CreatedTenant> =>
  service.client.call(createTenant, { body: { subdomain, environmentId } }, context());
const remove = (tenantId: string) => service.client.call(deleteTenant, { params: { tenantId } }, context());
const directoryOf = ({ subdomain }: CreatedTenant) => {
  const internal = { ...context(), caller: { kind: 'service' as const, service: 'gateway' } };
  return service.client.call(lookUpTenant, { body: { host: subdomain } }, internal);
};
const look = () => service.get(PurgeTenants).runJob({ isHeld: true } as Term);
const eventsOf = (tenantId: string) => service.engines.events.readStream(tenantStream(tenantId));
const typesOf = async (tenantId: string) => (await eventsOf(tenantId)).map(({ type }) => type);
const purged = async (tenantId: string) => (await typesOf(tenantId)).includes('TenantPurged');
/** The list of deleted tenants follows the events. */
const lookUntilPurged = (tenantId: string) =>
  waitUntil(async () => {
    await look();
    return purged(tenantId);
  });
const personal = async (tenantId: string) => {
  await service.engines.vault.sealing.createDataKey(tenantId, 'user', 'person');
  return service.engines.vault.sealing.sealText(tenantId, 'user', 'person', 'Ada Lovelace');
};

describe('the purge of deleted tenants', () => {
  beforeEach(async () => {
    await service.open();
    environmentId = service.config.environments[0]!.id;
  });
  afterEach(() => service.remove());

  it('purges only a tenant whose retention has passed, keys first, and leaves its history readable', async () => {
    const [gone, living] = [await create('gone'), await create('living')];
    const [theirs, ours] = [await personal(gone.id), await personal(living.id)];
    await remove(gone.id);
    clock.time += 30 * DAY_MS - 1;
    await service.get(TenantListsReadModel).running.waitForHead(10_000);
    await look();
    expect(await purged(gone.id)).toBe(false);
    expect(await directoryOf(gone)).toEqual({ ended: { tenantId: gone.id, isPurged: false } });
    expect(await service.engines.vault.sealing.openSealed(gone.id, 'user', theirs)).toBe('Ada Lovelace');
    clock.time += 1;
    await lookUntilPurged(gone.id);

    expect(await directoryOf(gone)).toEqual({ ended: { tenantId: gone.id, isPurged: true } });
    expect(await directoryOf(living)).toMatchObject({ tenant: { tenantId: living.id } });
    expect(await service.engines.vault.sealing.openSealed(gone.id, 'user', theirs)).toBe(ERASED);
    await expect(service.engines.vault.sealing.createDataKey(gone.id, 'user', 'another')).rejects.toThrow(KeyNotFound);
    expect(await service.engines.vault.sealing.openSealed(living.id, 'user', ours)).toBe('Ada Lovelace');
    const events = await eventsOf(gone.id);
    expect(verifyChain(events)).toMatchObject({ intact: true });
    expect(events.map((stored) => readEvent(tenant, stored).type)).toEqual([
      'TenantCreated',
      'MachineMembershipGranted',
      'TenantClientCreated',
      'TenantDeleted',
      'TenantPurged',
    ]);
    expect(events.at(-1)).toMatchObject({
      data: { tenantId: gone.id, purgedAt: clock.now().toISOString() },
      metadata: { tenantId: gone.id, actor: 'service:management' },
    });
    await waitUntil(() => feed.some(({ data }) => (data as { tenantId: string }).tenantId === gone.id));

    await look();
    expect((await typesOf(gone.id)).filter((type) => type === 'TenantPurged')).toHaveLength(1);
    await expect(create('gone')).rejects.toMatchObject({ kind: 'invalid', details: [{ param: 'subdomain' }] });
    expect(await purged(living.id)).toBe(false);
  });

  it('continues after a process ended between the keys and the event, also after a restart', async () => {
    const gone = await create('gone');
    const sealed = await personal(gone.id);
    await remove(gone.id);
    clock.time += 30 * DAY_MS;
    const { events } = service.engines;
    const append = events.append.bind(events);
    events.append = async (stream, appended, expected) => {
      if (appended[0]?.type === 'TenantPurged') throw new EventStoreUnavailable('the process is gone');
      return append(stream, appended, expected);
    };
    await waitUntil(async () =>
      look().then(
        () => false,
        (error: unknown) => error instanceof EventStoreUnavailable,
      ),
    );
    expect(await service.engines.vault.sealing.openSealed(gone.id, 'user', sealed)).toBe(ERASED);
    expect(await purged(gone.id)).toBe(false);
    await service.restart();
    await lookUntilPurged(gone.id);
  });

  it('survives a rebuild of the projections', async () => {
    const [gone, living] = [await create('gone'), await create('living')];
    await remove(gone.id);
    clock.time += 30 * DAY_MS;
    await lookUntilPurged(gone.id);
    const { running } = service.get(TenantListsReadModel);
    await running.rebuild();
    expect(await running.db.selectFrom('tenant').select('id').execute()).toEqual([{ id: living.id }]);
    expect(service.engines.health.report().ready).toBe(true);
  });
});
