import type { Term } from '@attestry/event-store';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTenant, deleteTenant } from '@attestry/contracts';
import { ERASED } from '@attestry/keys';
import { restoreKeys, waitUntil } from '@attestry/testing';
import { ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { managementService } from '../../index.js';
import { tenantStream } from '../tenant/tenant.state.js';
import { PurgeTenants } from './purge-tenants.js';

const service = new ServiceUnderTest(managementService, {
  settings: { BASE_DOMAIN: 'one.example' },
  clock: stoppedClock(),
});

it('destroys the keys of purged tenants again after older keys were restored, before it is ready', async () => {
  const older = await mkdtemp(join(tmpdir(), 'older-'));
  const boss = () => service.asManagement({ kind: 'management', clientId: 'boss' });

  await service.open();
  const body = { subdomain: 'gone', environmentId: service.config.environments[0]!.id };
  const { id } = await service.client.call(createTenant, { body }, boss());
  await service.engines.vault.sealing.createDataKey(id, 'user', 'person');
  const sealed = await service.engines.vault.sealing.sealText(id, 'user', 'person', 'Ada Lovelace');
  await service.client.call(deleteTenant, { params: { tenantId: id } }, boss());
  await service.close();
  await cp(join(service.folder, 'events.db'), join(older, 'events.db'));

  await service.open();
  service.ahead += 30 * 86_400_000;
  await waitUntil(async () => {
    await service.get(PurgeTenants).runJob({ isHeld: true } as Term);
    const events = await service.engines.events.readStream(tenantStream(id));
    return events.some(({ type }) => type === 'TenantPurged');
  });
  await service.close();

  restoreKeys(join(service.folder, 'events.db'), join(older, 'events.db'));
  await service.open();
  await waitUntil(() => service.engines.health.report().ready);
  expect(await service.engines.vault.sealing.openSealed(id, 'user', sealed)).toBe(ERASED);
  await service.remove();
  await rm(older, { recursive: true, force: true });
});
