/** @engines embedded postgres */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createUser,
  jwtVcConfigurations,
  reserveIssuerKey,
  tenantPurged,
  type ClientContext,
} from '@attestry/contracts';
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
import { ConfigurationsReadModel } from './settings/credential-configuration/configurations.read-model.js';
import { issuanceService } from './index.js';
import { UsersReadModel } from './users/user/users.read-model.js';

let dataDir: string;
let engines: Engines;
let services: RunningServices;
let client: ServiceClient;

const context = (tenantId: string): ClientContext => ({
  tenant: { id: tenantId, host: 'acme.localhost:8080', baseUrl: 'http://acme.localhost:8080' },
  caller: { kind: 'client', clientId: 'c' },
  requestId: 'request',
  operation: jwtVcConfigurations.create.name,
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
  engines.bus.serve(reserveIssuerKey.subject, async () => ({
    ok: true,
    data: { did: 'did:web:a.example', verificationMethod: 'did:web:a.example#k', kmsKeyId: ACTIVE, algorithm: 'P-256' },
  }));
  services = await startServices([issuanceService], engines);
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
    await client.call(createUser, { body: { claims: { name: 'Ada' } } }, context(tenantId));
    const body = {
      type: 'Card',
      name: 'Card',
      issuer: { name: 'Acme' },
      claimMappings: { a: { mapFrom: 'claims.a' } },
    };
    await client.call(jwtVcConfigurations.create, { body }, context(tenantId));
  }
  const models: [RunningProjection<never>, readonly string[]][] = [
    [services.app.get(UsersReadModel, { strict: false }).running as never, ['issuance_users']],
    [services.app.get(ConfigurationsReadModel, { strict: false }).running as never, ['issuance_configurations']],
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
