import { expectStatus, waitUntil } from '@attestry/testing';
import type { World } from './world.js';
import { pageRow, publicDocument, type Row } from './row.js';
import { NO_SUCH, takingUrl, webhookRequest } from './things.js';

/** At most 20 are allowed: room for one more. */
const roomForWebhook = async ({ tenant: { api } }: World): Promise<void> => {
  const { data } = expectStatus(await api.webhooks.list({ limit: 100 }), 200);
  if (data.length > 10) expectStatus(await api.webhooks.delete(data.at(-1)!.id), 204);
};

/** A test event that a new webhook has received. */
const deliveredTest = async (world: World): Promise<{ webhookId: string; deliveryId: string }> => {
  const { api } = world.tenant;
  await roomForWebhook(world);
  const body = { ...webhookRequest(), url: await takingUrl() };
  const webhookId = expectStatus(await api.webhooks.create(body), 201).id;
  expectStatus(await api.webhooks.test(webhookId), 202);
  const { deliveryId } = await waitUntil(
    async () => {
      const [newest] = expectStatus(await api.webhooks.attempts(webhookId), 200).data;
      return newest?.status === 'Delivered' && newest;
    },
    { what: 'the delivery of a test event' },
  );
  return { webhookId, deliveryId };
};

export const webhooksRows: Record<string, Row> = {
  'webhooks.create-webhook': {
    right: async (world) => {
      await roomForWebhook(world);
      return { body: webhookRequest() };
    },
    wrong: () => ({ body: { ...webhookRequest(), events: [] } }),
    refusal: { status: 400, param: 'events', location: 'body' },
  },
  'webhooks.list-webhooks': pageRow,
  'webhooks.retrieve-webhook': {
    right: ({ own }) => ({ params: { webhookId: own.webhook } }),
    wrong: () => ({ params: { webhookId: 'no-uuid' } }),
    refusal: { status: 400, param: 'webhookId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook } }),
  },
  'webhooks.update-webhook': {
    right: ({ own }) => ({ params: { webhookId: own.webhook }, body: webhookRequest() }),
    wrong: ({ own }) => ({ params: { webhookId: own.webhook }, body: { ...webhookRequest(), url: 7 } }),
    refusal: { status: 400, param: 'url', location: 'body' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook }, body: webhookRequest() }),
  },
  'webhooks.delete-webhook': {
    right: async ({ tenant }) => ({
      params: { webhookId: expectStatus(await tenant.api.webhooks.create(webhookRequest()), 201).id },
    }),
    wrong: () => ({ params: { webhookId: 'no-uuid' } }),
    refusal: { status: 400, param: 'webhookId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook } }),
  },
  'webhooks.test-webhook': {
    right: ({ own }) => ({ params: { webhookId: own.webhook } }),
    wrong: () => ({ params: { webhookId: 'no-uuid' } }),
    refusal: { status: 400, param: 'webhookId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook } }),
  },
  'webhooks.list-attempts': {
    right: async (world) => ({
      params: { webhookId: (await deliveredTest(world)).webhookId },
      query: { limit: 5 },
    }),
    wrong: ({ own }) => ({ params: { webhookId: own.webhook }, query: { limit: 0 } }),
    refusal: { status: 400, param: 'limit', location: 'query' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook } }),
  },
  'webhooks.redeliver-attempt': {
    right: async (world) => ({ params: await deliveredTest(world) }),
    wrong: ({ own }) => ({ params: { webhookId: own.webhook, deliveryId: 'no-uuid' } }),
    refusal: { status: 400, param: 'deliveryId', location: 'params' },
    foreign: ({ foreign }) => ({ params: { webhookId: foreign.webhook, deliveryId: NO_SUCH } }),
  },
  'webhooks.retrieve-webhook-keys': publicDocument,
  'webhooks.rotate-keys': {
    right: () => ({}),
    wrong: () => ({ method: 'GET' }),
    refusal: { status: 405 },
  },
};
