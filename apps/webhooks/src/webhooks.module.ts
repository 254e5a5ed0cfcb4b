import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Budgets } from '@attestry/service-kit';
import { AttemptsReadModel } from './attempts.read-model.js';
import { CreateWebhookHandler } from './create-webhook/create-webhook.js';
import { DeleteWebhookHandler } from './delete-webhook/delete-webhook.js';
import { ListAttemptsHandler } from './list-attempts/list-attempts.js';
import { ListWebhooksHandler } from './list-webhooks/list-webhooks.js';
import { RedeliverAttemptHandler } from './redeliver-attempt/redeliver-attempt.js';
import { RetrieveWebhookKeysHandler } from './retrieve-webhook-keys/retrieve-webhook-keys.js';
import { RetrieveWebhookHandler } from './retrieve-webhook/retrieve-webhook.js';
import { KeepKeysFresh } from './rotate-keys/keep-keys-fresh.js';
import { RotateKeysHandler } from './rotate-keys/rotate-keys.js';
import { ScheduleDeliveries } from './schedule-deliveries/schedule-deliveries.js';
import { AttemptDelivery } from './send-deliveries/attempt-delivery.js';
import { ObserveAttempts } from './send-deliveries/observe-attempts.js';
import { SendDeliveries } from './send-deliveries/send-deliveries.js';
import { TestWebhookHandler } from './test-webhook/test-webhook.js';
import { UpdateWebhookHandler } from './update-webhook/update-webhook.js';
import { WebhookRequests } from './webhook-requests/webhook-requests.js';
import { TenantSlots } from './webhook-slots/tenant-slots.js';
import { WebhookDirectory } from './webhook-directory.js';
import { WebhookKeys } from './webhook-keys.js';
import { WebhooksReactions } from './webhooks.reactions.js';
import { WebhooksReadModel } from './webhooks.read-model.js';

@Module({
  imports: [CqrsModule],
  providers: [
    // subscriptions
    TenantSlots,
    WebhookRequests,
    CreateWebhookHandler,
    ListWebhooksHandler,
    RetrieveWebhookHandler,
    UpdateWebhookHandler,
    DeleteWebhookHandler,
    // keys
    WebhookKeys,
    RetrieveWebhookKeysHandler,
    RotateKeysHandler,
    KeepKeysFresh,
    // deliveries
    WebhookDirectory,
    ScheduleDeliveries,
    ObserveAttempts,
    AttemptDelivery,
    SendDeliveries,
    Budgets,
    TestWebhookHandler,
    ListAttemptsHandler,
    RedeliverAttemptHandler,
    // lists and reactions
    WebhooksReadModel,
    AttemptsReadModel,
    WebhooksReactions,
  ],
})
export class WebhooksModule {}
