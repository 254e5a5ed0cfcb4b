/** @engines embedded postgres */
import { createWebhook, deleteWebhook, type Webhook } from '@attestry/contracts';
import { describeIdempotency, ServiceUnderTest, stoppedClock } from '@attestry/testing/services';
import { webhooksService } from './index.js';

const service = new ServiceUnderTest(webhooksService, {
  settings: { ALLOW_PRIVATE_TARGETS: 'true' },
  clock: stoppedClock(),
});
let tenants = 0;

beforeAll(() => service.open());
afterAll(() => service.remove());

const create = (tenantId: string, url: string, clientId = 'one', key?: string): Promise<Webhook> =>
  service.admin(createWebhook, { body: { url, events: ['OpenIdCredentialIssuedSummary'] } }, tenantId, {
    caller: { kind: 'client', clientId },
    ...(key !== undefined && { idempotencyKey: key }),
  });

describeIdempotency('creating a webhook', {
  service,
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
  await service.admin(deleteWebhook, { params: { webhookId: first.id } }, tenantId);
  expect(await create(tenantId, 'https://receiver.example/first', 'one', 'key')).toEqual(first);
  const events = await service.events('webhook');
  const made = events.filter((event) => event.type === 'WebhookCreated' && event.metadata.tenantId === tenantId);
  expect(made).toHaveLength(20);
});
