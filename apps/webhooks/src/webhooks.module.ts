import { Module } from '@nestjs/common';
import { Budgets } from '@attestry/service-kit';
import { CredentialDocuments } from './credential-documents/credential-documents.js';
import { AttemptsReadModel } from './webhook-lists/attempts.read-model.js';
import { KeepKeysFresh } from './rotate-keys/keep-keys-fresh.js';
import { ScheduleDeliveries } from './schedule-deliveries/schedule-deliveries.js';
import { AttemptDelivery } from './send-deliveries/attempt-delivery.js';
import { DueDeliveries } from './send-deliveries/due-deliveries.js';
import { ObserveAttempts } from './send-deliveries/observe-attempts.js';
import { SendDeliveries } from './send-deliveries/send-deliveries.js';
import { WebhookRequests } from './webhook-requests/webhook-requests.js';
import { TenantSlots } from './webhook-slots/tenant-slots.js';
import { WebhookDirectory } from './webhook/webhook.directory.js';
import { WebhookKeys } from './webhook-keys/webhook-keys.js';
import { WebhooksReactions } from './webhooks.reactions.js';
import { WebhooksReadModel } from './webhook-lists/webhooks.read-model.js';
import { useCases } from './use-cases.generated.js';

@Module({
  providers: [
    ...useCases,
    // subscriptions
    TenantSlots,
    WebhookRequests,
    // keys
    WebhookKeys,
    KeepKeysFresh,
    // deliveries
    WebhookDirectory,
    ScheduleDeliveries,
    CredentialDocuments,
    ObserveAttempts,
    DueDeliveries,
    AttemptDelivery,
    SendDeliveries,
    Budgets,
    // lists and reactions
    WebhooksReadModel,
    AttemptsReadModel,
    WebhooksReactions,
  ],
})
export class WebhooksModule {}
