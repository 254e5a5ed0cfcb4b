/** @engines embedded postgres */
import { createWebhook, listWebhookAttempts, testWebhook, type PageOf, type WebhookAttempt } from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { describePurgedTenants, ServiceUnderTest } from '@attestry/testing/services';
import { AttemptsReadModel } from './webhook-lists/attempts.read-model.js';
import { webhooksService } from './index.js';
import { WebhooksReadModel } from './webhook-lists/webhooks.read-model.js';

const service = new ServiceUnderTest(webhooksService, { settings: { ALLOW_PRIVATE_TARGETS: 'true' } });

describePurgedTenants({
  service,
  models: () => [
    [service.get(WebhooksReadModel), 'webhook'],
    [service.get(AttemptsReadModel), 'webhook_attempt'],
  ],
  fill: async (tenantId) => {
    // An unreachable address.
    const body = { url: 'http://127.0.0.1:9/in', events: ['OpenIdCredentialIssued'] };
    const { id } = await service.admin(createWebhook, { body }, tenantId);
    await service.admin(testWebhook, { params: { webhookId: id } }, tenantId);
    const attempts = async () =>
      (await service.admin(listWebhookAttempts, { params: { webhookId: id } }, tenantId)) as PageOf<WebhookAttempt>;
    await waitUntil(async () => (await attempts()).data.length > 0);
  },
});
