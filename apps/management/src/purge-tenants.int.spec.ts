/** @engines embedded postgres */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTenant,
  deleteTenant,
  lookUpTenant,
  tenantPurged,
  type CreatedTenant,
  type ManagementContext,
} from '@attestry/contracts';
import { EventStoreUnavailable, readEvent, verifyChain, type Term } from '@attestry/event-store';
import { ERASED, KeyNotFound } from '@attestry/keys';
import type { FeedMessage } from '@attestry/messaging';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  startServices,
  type Engines,
  type RunningServices,
} from '@attestry/service-kit';
import { TEST_SETTINGS, waitUntil } from '@attestry/testing';
import { chosenEngines } from '@attestry/testing/services';
import { managementService } from './index.js';
import { PurgeTenants } from './tenants/purge-tenants/purge-tenants.js';
import { tenant, tenantStream } from './tenants/tenant/tenant.state.js';
import { TenantListsReadModel } from './tenants/tenant-lists/tenant-lists.read-model.js';

const DAY_MS = 86_400_000;
const clock = { time: Date.parse('2026-03-01T10:00:00.000Z'), now: () => new Date(clock.time) };
let dataDir: string;
let engines: Engines;
let services: RunningServices;
let client: ServiceClient;
let environmentId: string;
let feed: FeedMessage[];
let serial = 0;

const start = async () => {
  const config = parseConfig({
    ...TEST_SETTINGS,
    DATA_DIR: dataDir,
    BASE_DOMAIN: 'one.example',
    TENANT_PURGE_DAYS: '30',
  });
  environmentId = config.environments[0]!.id;
  engines = await chosenEngines(await openEngines(config, { clock }));
  services = await startServices([managementService], engines);
  client = new ServiceClient(engines.bus, 'gateway');
  feed = [];
  engines.bus.consume({ name: 'test', subjects: [tenantPurged.subject] }, async (messages) => {
    feed.push(...messages);
  });
};
const stop = async () => {
  await services.close();
  await engines.close();
};
const context = (): ManagementContext => ({
  caller: { kind: 'management', clientId: 'boss' },
  requestId: `request${++serial}`,
  operation: 'test',
  deadline: Date.now() + 20_000,
});
const create = (subdomain: string): Promise<CreatedTenant> =>
  client.call(createTenant, { body: { subdomain, environmentId } }, context());
const remove = (tenantId: string) => client.call(deleteTenant, { params: { tenantId } }, context());
const directoryOf = ({ subdomain }: CreatedTenant) => {
  const internal = { ...context(), caller: { kind: 'service' as const, service: 'gateway' } };
  return client.call(lookUpTenant, { body: { host: subdomain } }, internal);
};
const look = () => services.app.get(PurgeTenants, { strict: false }).runJob({ isHeld: true } as Term);
const eventsOf = (tenantId: string) => engines.events.readStream(tenantStream(tenantId));
const typesOf = async (tenantId: string) => (await eventsOf(tenantId)).map(({ type }) => type);
const purged = async (tenantId: string) => (await typesOf(tenantId)).includes('TenantPurged');
/** The list of deleted tenants follows the events. */
const lookUntilPurged = (tenantId: string) =>
  waitUntil(async () => {
    await look();
    return purged(tenantId);
  });
const personal = async (tenantId: string) => {
  await engines.vault.sealing.createDataKey(tenantId, 'user', 'person');
  return engines.vault.sealing.sealText(tenantId, 'user', 'person', 'Ada Lovelace');
};

describe('the purge of deleted tenants', () => {
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'purge-'));
    await start();
  });
  afterEach(async () => {
    await stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('purges only a tenant whose retention has passed, keys first, and leaves its history readable', async () => {
    const [gone, living] = [await create('gone'), await create('living')];
    const [theirs, ours] = [await personal(gone.id), await personal(living.id)];
    await remove(gone.id);
    clock.time += 30 * DAY_MS - 1;
    await services.app.get(TenantListsReadModel, { strict: false }).running.waitForHead(10_000);
    await look();
    expect(await purged(gone.id)).toBe(false);
    expect(await directoryOf(gone)).toEqual({ ended: { tenantId: gone.id, isPurged: false } });
    expect(await engines.vault.sealing.openSealed(gone.id, 'user', theirs)).toBe('Ada Lovelace');
    clock.time += 1;
    await lookUntilPurged(gone.id);

    expect(await directoryOf(gone)).toEqual({ ended: { tenantId: gone.id, isPurged: true } });
    expect(await directoryOf(living)).toMatchObject({ tenant: { tenantId: living.id } });
    expect(await engines.vault.sealing.openSealed(gone.id, 'user', theirs)).toBe(ERASED);
    await expect(engines.vault.sealing.createDataKey(gone.id, 'user', 'another')).rejects.toThrow(KeyNotFound);
    expect(await engines.vault.sealing.openSealed(living.id, 'user', ours)).toBe('Ada Lovelace');
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
    const { events } = engines;
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
    expect(await engines.vault.sealing.openSealed(gone.id, 'user', sealed)).toBe(ERASED);
    expect(await purged(gone.id)).toBe(false);
    await stop();
    await start();
    await lookUntilPurged(gone.id);
  });

  it('survives a rebuild of the projections', async () => {
    const [gone, living] = [await create('gone'), await create('living')];
    await remove(gone.id);
    clock.time += 30 * DAY_MS;
    await lookUntilPurged(gone.id);
    const { running } = services.app.get(TenantListsReadModel, { strict: false });
    await running.rebuild();
    expect(await running.db.selectFrom('tenant').select('id').execute()).toEqual([{ id: living.id }]);
    expect(engines.health.report().ready).toBe(true);
  });
});
