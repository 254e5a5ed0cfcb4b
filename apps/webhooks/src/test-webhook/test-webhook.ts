import { Inject } from '@nestjs/common';
import { TEST_EVENT, testWebhook, type ClientContext, type WebhookDelivery } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { CLOCK, eventContext, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { deliveryKeyOf } from '../webhook-delivery/delivery-key.js';
import { SendDeliveries } from '../send-deliveries/send-deliveries.js';
import { scheduleDelivery } from '../webhook-delivery/webhook-delivery.decisions.js';
import { webhookDelivery, webhookDeliveryStream } from '../webhook-delivery/webhook-delivery.state.js';
import { WebhookRequests } from '../webhook-requests/webhook-requests.js';
import { enabled } from '../webhook/webhook.decisions.js';
import { hostOf, webhook, webhookStream } from '../webhook/webhook.state.js';

/** An ordinary event from here on: signed, retried, listed. */
@Operation(testWebhook)
export class TestWebhook {
  constructor(
    private readonly streams: Streams,
    private readonly sender: SendDeliveries,
    private readonly requests: WebhookRequests,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(request: RequestOf<typeof testWebhook>, context: ClientContext): Promise<WebhookDelivery> {
    const tenantId = context.tenant.id;
    const { webhookId } = request.params;
    const { url } = enabled((await this.streams.load(webhook, webhookStream(tenantId, webhookId))).state);
    const now = this.clock.now().toISOString();
    const event = { id: this.ids.uuid(), type: TEST_EVENT, timestamp: now } as const;
    const deliveryKey = deliveryKeyOf(event.id, webhookId, event.type);
    const decided = await this.requests.test(event.id, { tenantId, webhookId, url }, () =>
      this.streams.runDecision(
        webhookDelivery,
        webhookDeliveryStream(tenantId, deliveryKey),
        (state) => scheduleDelivery(state, { deliveryKey, webhookId, event, payload: {}, attemptAt: now }),
        eventContext(context),
      ),
    );
    this.sender.offer({ tenantId, requestId: context.requestId, host: hostOf(url), decided });
    return { webhookId, event };
  }
}
