import { Inject } from '@nestjs/common';
import { listWebhookAttempts, type ClientContext, type PageOf, type WebhookAttempt } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { keptSince } from '../webhook-lists/attempts.projection.js';
import { AttemptsReadModel } from '../webhook-lists/attempts.read-model.js';
import { activeWebhook } from '../webhook/webhook.decisions.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';

@Operation(listWebhookAttempts)
export class ListAttempts {
  constructor(
    private readonly streams: Streams,
    private readonly attempts: AttemptsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<typeof listWebhookAttempts>,
    { tenant }: ClientContext,
  ): Promise<PageOf<WebhookAttempt>> {
    const tenantId = tenant.id;
    const { webhookId } = request.params;
    activeWebhook((await this.streams.load(webhook, webhookStream(tenantId, webhookId))).state);
    return this.attempts.attemptsOf(
      { tenantId, webhookId, since: keptSince(this.clock.now().toISOString()) },
      request.query,
    );
  }
}
