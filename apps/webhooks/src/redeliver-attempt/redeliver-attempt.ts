import { Inject } from '@nestjs/common';
import {
  invalid,
  notFound,
  redeliverWebhookAttempt,
  type ClientContext,
  type WebhookDelivery,
} from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { CLOCK, eventContext, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { CredentialDocuments } from '../credential-documents/credential-documents.js';
import { AttemptsReadModel } from '../webhook-lists/attempts.read-model.js';
import { SendDeliveries } from '../send-deliveries/send-deliveries.js';
import { requeueDelivery } from '../webhook-delivery/webhook-delivery.decisions.js';
import type { ScheduledDelivery } from '../webhook-delivery/webhook-delivery.events.js';
import { webhookDelivery, webhookDeliveryStream } from '../webhook-delivery/webhook-delivery.state.js';
import { WebhookRequests } from '../webhook-requests/webhook-requests.js';
import { enabled } from '../webhook/webhook.decisions.js';
import { hostOf, webhook, webhookStream } from '../webhook/webhook.state.js';

@Operation(redeliverWebhookAttempt)
export class RedeliverAttempt {
  constructor(
    private readonly streams: Streams,
    private readonly documents: CredentialDocuments,
    private readonly attempts: AttemptsReadModel,
    private readonly sender: SendDeliveries,
    private readonly requests: WebhookRequests,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(request: RequestOf<typeof redeliverWebhookAttempt>, context: ClientContext): Promise<WebhookDelivery> {
    const tenantId = context.tenant.id;
    const { webhookId, deliveryId } = request.params;
    const { url } = enabled((await this.streams.load(webhook, webhookStream(tenantId, webhookId))).state);
    const deliveryKey = await this.attempts.deliveryKeyOf(tenantId, webhookId, deliveryId);
    if (deliveryKey === undefined) throw notFound();
    const now = this.clock.now().toISOString();
    let delivery: ScheduledDelivery | undefined;
    const decided = await this.requests.redeliver(this.ids.uuid(), { tenantId, url }, () =>
      this.streams.runDecision(
        webhookDelivery,
        webhookDeliveryStream(tenantId, deliveryKey),
        async (state) => {
          const requeued = requeueDelivery(state, { now });
          if ('delivery' in state) ({ delivery } = state);
          const credential = delivery && (await this.documents.open(tenantId, delivery, context));
          if (credential?.state === 'erased' || credential?.state === 'broken')
            // The delivery key is destroyed with the last delivery that needs it (ADR 0058). A redelivery is possible for a limited time: the list shows the attempt for 30 days, but the credential only until all its
            // deliveries are done.
            throw invalid({
              value: deliveryId,
              msg: 'the credential of this event is no longer stored, so the event cannot be delivered again',
              param: 'deliveryId',
              location: 'params',
            });
          return requeued;
        },
        eventContext(context),
      ),
    );
    this.sender.offer({ tenantId, requestId: context.requestId, host: hostOf(url), decided });
    return { webhookId, event: delivery!.event };
  }
}
