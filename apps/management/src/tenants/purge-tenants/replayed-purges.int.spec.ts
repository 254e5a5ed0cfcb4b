import type { Term } from '@attestry/event-store';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTenant, deleteTenant, type ManagementContext } from '@attestry/contracts';
import { ERASED } from '@attestry/keys';
import { openEngines, parseConfig, ServiceClient, startServices } from '@attestry/service-kit';
import { restoreKeys, TEST_SETTINGS, waitUntil } from '@attestry/testing';
import { managementService } from '../../index.js';
import { tenantStream } from '../tenant/tenant.state.js';
import { PurgeTenants } from './purge-tenants.js';

const clock = { time: Date.parse('2026-03-01T10:00:00.000Z'), now: () => new Date(clock.time) };

it('destroys the keys of purged tenants again after older keys were restored, before it is ready', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'restored-'));
  const older = await mkdtemp(join(tmpdir(), 'older-'));
  const config = parseConfig({ ...TEST_SETTINGS, DATA_DIR: dataDir, BASE_DOMAIN: 'one.example' });
  const start = async () => {
    const engines = await openEngines(config, { clock });
    const services = await startServices([managementService], engines);
    const stop = async () => {
      await services.close();
      await engines.close();
    };
    return { engines, services, client: new ServiceClient(engines.bus, 'gateway'), stop };
  };
  const context: ManagementContext = {
    caller: { kind: 'management', clientId: 'boss' },
    requestId: 'request',
    operation: 'test',
    deadline: Date.now() + 60_000,
  };

  let running = await start();
  const body = { subdomain: 'gone', environmentId: config.environments[0]!.id };
  const { id } = await running.client.call(createTenant, { body }, context);
  await running.engines.vault.sealing.createDataKey(id, 'user', 'person');
  const sealed = await running.engines.vault.sealing.sealText(id, 'user', 'person', 'Ada Lovelace');
  await running.client.call(deleteTenant, { params: { tenantId: id } }, context);
  await running.stop();
  await cp(join(dataDir, 'events.db'), join(older, 'events.db'));

  running = await start();
  clock.time += 30 * 86_400_000;
  await waitUntil(async () => {
    await running.services.app.get(PurgeTenants, { strict: false }).runJob({ isHeld: true } as Term);
    const events = await running.engines.events.readStream(tenantStream(id));
    return events.some(({ type }) => type === 'TenantPurged');
  });
  await running.stop();

  restoreKeys(join(dataDir, 'events.db'), join(older, 'events.db'));
  running = await start();
  await waitUntil(() => running.engines.health.report().ready);
  expect(await running.engines.vault.sealing.openSealed(id, 'user', sealed)).toBe(ERASED);
  await running.stop();
  await Promise.all([dataDir, older].map((folder) => rm(folder, { recursive: true, force: true })));
});
