import {
  createTenantUnderTest,
  expectStatus,
  waitUntil,
  WebhookReceiver,
  type TenantUnderTest,
} from '@attestry/testing';
import { issue, makeIssuer } from '../journey.js';
import type { Stage } from './stage.js';

interface Subscriber {
  tenant: TenantUnderTest;
  configurationId: string;
  receiver: WebhookReceiver;
  webhookId: string;
}

/** A tenant whose webhook subscribes to its credentials. */
export const subscribe = async (stage: Stage, subdomain: string): Promise<Subscriber> => {
  const { cluster, scene } = stage;
  const tenant = await createTenantUnderTest(cluster, scene.management, subdomain);
  const { jwtVc } = await makeIssuer(tenant);
  const receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
  const { url } = receiver;
  const hook = await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssuedSummary'], url });
  return { tenant, configurationId: jwtVc, receiver, webhookId: expectStatus(hook, 201).id };
};

export const issueTo = async ({ tenant, configurationId }: Subscriber, count: number, parallel = 4): Promise<void> => {
  let left = count;
  const one = async () => {
    while (left-- > 0) await issue(tenant, { credentials: [configurationId], claims: { given_name: 'Ada' } });
  };
  await Promise.all(Array.from({ length: parallel }, one));
};

/** 95th percentile of the milliseconds from each credential to its delivery. */
export const delays = async ({ receiver }: Subscriber, from: number, count: number): Promise<number> => {
  await waitUntil(() => receiver.deliveries.length >= from + count, { timeoutMs: 30_000, what: `${count} deliveries` });
  const sorted = receiver.deliveries
    .slice(from)
    .map(({ receivedAt, body }) => receivedAt - Date.parse(body.event.timestamp))
    .sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1]!;
};

/** No more is owed to it. */
export const unsubscribe = async ({ tenant, webhookId }: Subscriber): Promise<void> => {
  expectStatus(await tenant.api.webhooks.delete(webhookId), 204);
};
