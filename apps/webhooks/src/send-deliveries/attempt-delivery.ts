import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type EventContext, type Ids } from '@attestry/event-store';
import { KeyNotFound } from '@attestry/keys';
import { CLOCK, IDS, Outbound, PlatformConfig, serviceContext } from '@attestry/service-kit';
import { CredentialDocuments, type DeliveredCredential } from '../credential-documents/credential-documents.js';
import {
  endAttempt,
  isSuccess,
  startAttempt,
  type AttemptOutcome,
} from '../webhook-delivery/webhook-delivery.decisions.js';
import type { CancelReason, ScheduledDelivery } from '../webhook-delivery/webhook-delivery.events.js';
import { isPending, webhookDelivery, webhookDeliveryStream } from '../webhook-delivery/webhook-delivery.state.js';
import { WebhookKeys } from '../webhook-keys/webhook-keys.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';
import { attemptError } from './attempt-error.js';
import { HeldBytes, type Hold } from './held-bytes.js';
import { ObserveAttempts } from './observe-attempts.js';
import type { DueDelivery, Stored } from './delivery-queue.js';
import { webhookRequest } from './webhook-request.js';

/** Longest duration of a quick response, milliseconds. */
const QUICK_MS = 500;
/** Bytes of a response body, which is discarded. */
const MAX_ANSWER_BYTES = 16_384;
/** Held by all deliveries of a process that have a credential, from when it is loaded until the answer. */
const MOST_IN_FLIGHT = 64 * 1024 * 1024;
/** Held by one of them while its size is not known. */
const MOST_BYTES = 2 * 1024 * 1024;

export interface Attempted {
  /** Position from which the queue shows it; absent when no attempt was due. */
  position?: string;
  /** The attempt succeeded quickly; absent when there was none. */
  quick?: boolean;
  /** The delivery has ended. */
  ended?: boolean;
}

/** One attempt: an event before the request goes out and another when its outcome is known (ADR 0038). */
@Injectable()
export class AttemptDelivery {
  private readonly held = new HeldBytes(MOST_IN_FLIGHT);

  constructor(
    private readonly streams: Streams,
    private readonly documents: CredentialDocuments,
    private readonly keys: WebhookKeys,
    private readonly outbound: Outbound,
    private readonly config: PlatformConfig,
    private readonly observe: ObserveAttempts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /**
   * Attempts a delivery, or cancels one that must not be sent any more.
   *
   * @param mayStart called just before; when it returns false, no attempt is made
   */
  async attempt(due: DueDelivery, operation: `webhooks.${string}`, mayStart: () => boolean): Promise<Attempted> {
    const holds: Hold[] = [];
    try {
      return await this.attemptHolding(holds, due, operation, mayStart);
    } finally {
      for (const hold of holds) hold.release();
    }
  }

  private async attemptHolding(
    holds: Hold[],
    due: DueDelivery,
    operation: `webhooks.${string}`,
    mayStart: () => boolean,
  ): Promise<Attempted> {
    const { tenantId, deliveryKey } = due;
    const context = contextOf(due, operation);
    const stream = webhookDeliveryStream(tenantId, deliveryKey);
    const loaded: Stored = due.loaded ?? (await this.streams.load(webhookDelivery, stream));
    if (!isPending(loaded.state)) return {};
    const { delivery } = loaded.state;
    const target = await this.target(due);
    if (delivery.sealedCredential && !('cancelled' in target)) holds.push(await this.held.hold(MOST_BYTES));
    const credential: DeliveredCredential =
      'cancelled' in target ? { state: 'none' } : await this.documents.open(tenantId, delivery, context);
    // The value, the text that is made of it, and its bytes.
    for (const hold of holds) hold.shrink(credential.state === 'open' ? 3 * credential.length : 0);
    const cancelled =
      'cancelled' in target ? target.cancelled : credential.state === 'erased' ? 'credential-erased' : undefined;
    if (!mayStart()) return {};
    // The scheduler may have started it, for this call.
    const announced = due.deliveryId !== undefined && !cancelled;
    const now = announced ? new Date(delivery.attemptAt) : this.clock.now();
    const deliveryId = due.deliveryId ?? this.ids.uuid();
    const started: Stored = announced
      ? loaded
      : await this.streams.decideOn(
          webhookDelivery,
          stream,
          loaded,
          (current) =>
            startAttempt(current, { deliveryId }, { now: now.toISOString(), ...(cancelled && { cancelled }) }),
          context,
        );
    const { state, position } = started;
    if (state.status !== 'attempting' || state.deliveryId !== deliveryId || 'cancelled' in target)
      return position === undefined ? {} : { position, ended: true };
    const attempt = state.attempts + 1;
    const sentAt = performance.now();
    const outcome = await this.observe.attempt({ stream, attempt }, () =>
      this.send(due, target.url, delivery, credential, { deliveryId, attempt, now, context }),
    );
    const delivered = isSuccess(outcome);
    const quick = delivered && performance.now() - sentAt <= QUICK_MS;
    const facts = {
      now: this.clock.now().toISOString(),
      retrySeconds: this.config.webhookRetrySeconds,
      jitter: (Math.random() - 0.5) * 0.4,
    };
    const ended = await this.streams.decideOn(
      webhookDelivery,
      stream,
      started,
      (current) => endAttempt(current, { deliveryId, ...outcome }, facts),
      context,
    );
    const shownAt = ended.position ?? position;
    return { ...(shownAt !== undefined && { position: shownAt }), quick, ended: delivered };
  }

  private async target({
    tenantId,
    webhookId,
    cancel,
  }: DueDelivery): Promise<{ url: string } | { cancelled: CancelReason }> {
    if (cancel) return { cancelled: cancel };
    const { state } = await this.streams.load(webhook, webhookStream(tenantId, webhookId));
    if (state.status !== 'active') return { cancelled: 'webhook-deleted' };
    return state.disabled ? { cancelled: 'webhook-disabled' } : { url: state.url };
  }

  private async send(
    { tenantId }: DueDelivery,
    url: string,
    { webhookId, event, payload }: ScheduledDelivery,
    credential: DeliveredCredential,
    { deliveryId, attempt, now, context }: { deliveryId: string; attempt: number; now: Date; context: EventContext },
  ): Promise<Omit<AttemptOutcome, 'deliveryId'>> {
    if (credential.state === 'broken') return { error: credential.error };
    const signer = await this.signer(tenantId, context);
    if (!signer) return { error: 'signing-key-missing' };
    const envelope = {
      deliveryId,
      deliveryTimestamp: now.toISOString(),
      webhookId,
      event: {
        ...event,
        payload: { ...payload, ...(credential.state === 'open' && { credential: credential.value }) },
      },
    };
    const { headers, body } = await webhookRequest(url, envelope, { attempt, now, signer });
    try {
      const { status } = await this.outbound.send(url, {
        tenantId,
        method: 'POST',
        headers,
        body,
        timeoutMs: this.config.webhookTimeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        statusOnly: true,
      });
      return { status };
    } catch (error) {
      return { error: attemptError(error) };
    }
  }

  private async signer(tenantId: string, context: EventContext) {
    try {
      return await this.keys.signer(tenantId, context);
    } catch (error) {
      if (error instanceof KeyNotFound) return undefined;
      throw error;
    }
  }
}

const contextOf = (
  { tenantId, requestId, deliveryKey }: DueDelivery,
  operation: `webhooks.${string}`,
): EventContext => ({
  ...serviceContext(operation, tenantId, requestId),
  causationId: deliveryKey,
});
