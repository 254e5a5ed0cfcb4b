import { Module } from '@nestjs/common';
import { Budgets } from '@attestry/service-kit';
import { AttemptsReadModel } from './webhook-lists/attempts.read-model.js';
import { CreateWebhook } from './create-webhook/create-webhook.js';
import { DeleteWebhook } from './delete-webhook/delete-webhook.js';
import { ListAttempts } from './list-attempts/list-attempts.js';
import { ListWebhooks } from './list-webhooks/list-webhooks.js';
import { RedeliverAttempt } from './redeliver-attempt/redeliver-attempt.js';
import { RetrieveWebhookKeys } from './retrieve-webhook-keys/retrieve-webhook-keys.js';
import { RetrieveWebhook } from './retrieve-webhook/retrieve-webhook.js';
import { KeepKeysFresh } from './rotate-keys/keep-keys-fresh.js';
import { RotateKeys } from './rotate-keys/rotate-keys.js';
import { ScheduleDeliveries } from './schedule-deliveries/schedule-deliveries.js';
import { AttemptDelivery } from './send-deliveries/attempt-delivery.js';
import { ObserveAttempts } from './send-deliveries/observe-attempts.js';
import { SendDeliveries } from './send-deliveries/send-deliveries.js';
import { TestWebhook } from './test-webhook/test-webhook.js';
import { UpdateWebhook } from './update-webhook/update-webhook.js';
import { WebhookRequests } from './webhook-requests/webhook-requests.js';
import { TenantSlots } from './webhook-slots/tenant-slots.js';
import { WebhookDirectory } from './webhook/webhook.directory.js';
import { WebhookKeys } from './webhook-keys/webhook-keys.js';
import { WebhooksReactions } from './webhooks.reactions.js';
import { WebhooksReadModel } from './webhook-lists/webhooks.read-model.js';

@Module({
  providers: [
    // subscriptions
    TenantSlots,
    WebhookRequests,
    CreateWebhook,
    ListWebhooks,
    RetrieveWebhook,
    UpdateWebhook,
    DeleteWebhook,
    // keys
    WebhookKeys,
    RetrieveWebhookKeys,
    RotateKeys,
    KeepKeysFresh,
    // deliveries
    WebhookDirectory,
    ScheduleDeliveries,
    ObserveAttempts,
    AttemptDelivery,
    SendDeliveries,
    Budgets,
    TestWebhook,
    ListAttempts,
    RedeliverAttempt,
    // lists and reactions
    WebhooksReadModel,
    AttemptsReadModel,
    WebhooksReactions,
  ],
})
export class WebhooksModule {}
