/** @engines embedded postgres */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWebhook, testWebhook, tenantPurged, type ClientContext } from '@attestry/contracts';
import type { RunningProjection } from '@attestry/read-model';
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
import type { Kysely } from 'kysely';
import { AttemptsReadModel } from './webhook-lists/attempts.read-model.js';
import { webhooksService } from './index.js';
import { WebhooksReadModel } from './webhook-lists/webhooks.read-model.js';

let dataDir: string;
let engines: Engines;
let services: RunningServices;
let client: ServiceClient;

const context = (tenantId: string): ClientContext => ({
  tenant: { id: tenantId, host: 'acme.localhost:8080', baseUrl: 'http://acme.localhost:8080' },
  caller: { kind: 'client', clientId: 'c' },
  requestId: 'request',
  operation: 'test',
  deadline: Date.now() + 20_000,
});
const GONE = '30000000-0000-4000-8000-000000000001';
const ACTIVE = '30000000-0000-4000-8000-000000000002';
const purge = (tenantId: string) =>
  engines.bus.publish([
    {
      id: `purged-${tenantId}`,
      subject: tenantPurged.subject,
      headers: { tenantId, requestId: 'purge', occurredAt: new Date().toISOString() },
      data: { tenantId },
    },
  ]);

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'forgotten-'));
  const config = parseConfig({
    ...TEST_SETTINGS,
    DATA_DIR: dataDir,
    ALLOW_PRIVATE_TARGETS: 'true',
  });
  engines = await chosenEngines(await openEngines(config));
  services = await startServices([webhooksService], engines);
  client = new ServiceClient(engines.bus, 'gateway');
});
afterAll(async () => {
  await services.close();
  await engines.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** The tenants that have rows, by table. */
const tenantsIn = async (running: RunningProjection<never>, tables: readonly string[]): Promise<string[][]> =>
  Promise.all(
    tables.map(async (table) => {
      const rows = running.db as unknown as Kysely<{ [name: string]: { tenant_id: string } }>;
      const found = await rows.selectFrom(table).select('tenant_id').distinct().orderBy('tenant_id').execute();
      return found.map(({ tenant_id: tenantId }) => tenantId);
    }),
  );

it("a purged tenant's rows are deleted and another's kept, also after a rebuild", async () => {
  for (const tenantId of [GONE, ACTIVE]) {
    // An unreachable address.
    const body = { url: 'http://127.0.0.1:9/in', events: ['OpenIdCredentialIssued' as const] };
    const { id } = await client.call(createWebhook, { body }, context(tenantId));
    await client.call(testWebhook, { params: { webhookId: id } }, context(tenantId));
  }
  const attempts = services.app.get(AttemptsReadModel, { strict: false }).running;
  await waitUntil(async () => (await tenantsIn(attempts as never, ['webhook_attempt']))[0]!.length === 2);
  const models: [RunningProjection<never>, readonly string[]][] = [
    [services.app.get(WebhooksReadModel, { strict: false }).running as never, ['webhook']],
    [attempts as never, ['webhook_attempt']],
  ];
  for (const [running, tables] of models) {
    await running.waitForHead(10_000);
    for (const found of await tenantsIn(running, tables)) expect(found).toEqual([GONE, ACTIVE]);
  }
  await purge(GONE);
  // The event may be delivered twice.
  await purge(GONE);
  const all = async () => (await Promise.all(models.map(([running, tables]) => tenantsIn(running, tables)))).flat();
  await waitUntil(async () => (await all()).every((found) => !found.includes(GONE)));
  expect(new Set((await all()).flat())).toEqual(new Set([ACTIVE]));
  for (const [running] of models) await running.rebuild();
  for (const found of await all()) expect(found).toEqual([ACTIVE]);
  expect(engines.health.report().ready).toBe(true);
});
