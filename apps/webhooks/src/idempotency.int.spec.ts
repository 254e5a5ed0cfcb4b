/** @engines embedded postgres */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWebhook, deleteWebhook, type ContextOf, type Webhook } from '@attestry/contracts';
import {
  openEngines,
  parseConfig,
  ServiceClient,
  startServices,
  type Engines,
  type RunningServices,
} from '@attestry/service-kit';
import { TEST_SETTINGS } from '@attestry/testing';
import { chosenEngines, describeIdempotency } from '@attestry/testing/services';
import { webhooksService } from './index.js';

const clock = { time: Date.parse('2026-03-01T10:00:00.000Z'), now: () => new Date(clock.time) };
let dataDir: string;
let engines: Engines;
let services: RunningServices;
let serial = 0;
let tenants = 0;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'idempotency-'));
  const config = parseConfig({
    ...TEST_SETTINGS,
    DATA_DIR: dataDir,
    ALLOW_PRIVATE_TARGETS: 'true',
  });
  engines = await chosenEngines(await openEngines(config, { clock }));
  services = await startServices([webhooksService], engines);
});
afterAll(async () => {
  await services.close();
  await engines.close();
  await rm(dataDir, { recursive: true, force: true });
});

const context = (tenantId: string, clientId: string, idempotencyKey?: string): ContextOf<typeof createWebhook> => ({
  tenant: { id: tenantId, host: 'acme.localhost', baseUrl: 'http://acme.localhost' },
  caller: { kind: 'client', clientId },
  requestId: `request${++serial}`,
  operation: 'test',
  deadline: Date.now() + 20_000,
  ...(idempotencyKey !== undefined && { idempotencyKey }),
});
const create = (tenantId: string, url: string, clientId = 'one', key?: string): Promise<Webhook> =>
  new ServiceClient(engines.bus, 'gateway').call(
    createWebhook,
    { body: { url, events: ['OpenIdCredentialIssuedSummary'] } },
    context(tenantId, clientId, key),
  );

describeIdempotency('creating a webhook', {
  engines: () => engines,
  clock,
  category: 'webhook',
  made: 'WebhookCreated',
  thing: () => {
    const tenantId = `30000000-0000-4000-8000-${String(++tenants).padStart(12, '0')}`;
    return ({ key, by, other }) => create(tenantId, `https://receiver.example/${other ? 'other' : 'one'}`, by, key);
  },
});

it('a key does not restore a webhook that was deleted, or beyond the limit of the tenant', async () => {
  const tenantId = '30000000-0000-4000-8000-ffffffffffff';
  const first = await create(tenantId, 'https://receiver.example/first', 'one', 'key');
  for (let n = 2; n <= 20; n++) await create(tenantId, `https://receiver.example/${n}`);
  expect(await create(tenantId, 'https://receiver.example/first', 'one', 'key')).toEqual(first);
  const client = new ServiceClient(engines.bus, 'gateway');
  await client.call(deleteWebhook, { params: { webhookId: first.id } }, context(tenantId, 'one'));
  expect(await create(tenantId, 'https://receiver.example/first', 'one', 'key')).toEqual(first);
  const { events } = await engines.events.readAll({ categories: ['webhook'], limit: 1000 });
  const made = events.filter((event) => event.type === 'WebhookCreated' && event.metadata.tenantId === tenantId);
  expect(made).toHaveLength(20);
});
