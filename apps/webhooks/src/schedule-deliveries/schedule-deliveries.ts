import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  credentialIssued,
  isCredentialEvent,
  tenantDeleted,
  WEBHOOK_EVENT_SOURCES,
  webhookEventsOf,
  webhookEventPayload,
  userDeleted,
  type CredentialEvent,
  type IntegrationEventType,
} from '@attestry/contracts';
import { Streams, type Clock, type EventContext } from '@attestry/event-store';
import { Sealing } from '@attestry/keys';
import type { FeedMessage } from '@attestry/messaging';
import { CLOCK, Reactions, serviceContext } from '@attestry/service-kit';
import { deliveryKeyOf } from '../webhook-delivery/delivery-key.js';
import { SendDeliveries } from '../send-deliveries/send-deliveries.js';
import { cancelDelivery, scheduleDelivery } from '../webhook-delivery/webhook-delivery.decisions.js';
import type { ScheduledDelivery } from '../webhook-delivery/webhook-delivery.events.js';
import { webhookDelivery, webhookDeliveryStream } from '../webhook-delivery/webhook-delivery.state.js';
import { WebhookDirectory, type Subscribed } from '../webhook/webhook.directory.js';
import { endKeys } from '../webhook-keys/webhook-keys.decisions.js';
import { webhookKeys, webhookKeysStream } from '../webhook-keys/webhook-keys.state.js';
import { deleteWebhook } from '../webhook/webhook.decisions.js';
import { webhook, webhookStream } from '../webhook/webhook.state.js';
import { WebhooksReadModel } from '../webhook-lists/webhooks.read-model.js';

type DataOf<T> = T extends IntegrationEventType<infer Data> ? Data : never;
type CredentialIssued = DataOf<typeof credentialIssued>;
type UserDeleted = DataOf<typeof userDeleted>;
type TenantDeleted = DataOf<typeof tenantDeleted>;

interface TenantEvent {
  tenantId: string;
}

const NAME = 'webhooks.deliveries';
const WEBHOOK_EVENT_SUBJECTS: ReadonlySet<string> = new Set(
  Object.values(WEBHOOK_EVENT_SOURCES).map(({ integrationEvent }) => integrationEvent.subject),
);
const CATCH_UP_MS = 10_000;

/**
 * Schedules deliveries for events, one stream for each event and webhook, and cancels those of deleted users and tenants. One consumer for
 * all, as the feed's order matters: a user's deletion comes after what was issued to them. A batch that fails is redelivered; every step is
 * idempotent.
 */
@Injectable()
export class ScheduleDeliveries implements OnApplicationBootstrap {
  constructor(
    private readonly reactions: Reactions,
    private readonly streams: Streams,
    private readonly sealing: Sealing,
    private readonly directory: WebhookDirectory,
    private readonly readModel: WebhooksReadModel,
    private readonly sender: SendDeliveries,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.reactions.consume({ name: NAME }, (messages) => this.handle(messages));
  }

  private async handle(messages: readonly FeedMessage[]): Promise<void> {
    await this.directory.upToDate();
    let adding: FeedMessage[] = [];
    const flush = async () => {
      await Promise.all(
        adding.map((message) =>
          message.subject === credentialIssued.subject
            ? this.scheduleCredential(message as FeedMessage<CredentialIssued>)
            : this.scheduleEvent(message as FeedMessage<TenantEvent>),
        ),
      );
      adding = [];
    };
    for (const message of messages) {
      if (message.subject === credentialIssued.subject || WEBHOOK_EVENT_SUBJECTS.has(message.subject)) {
        adding.push(message);
        continue;
      }
      await flush();
      if (message.subject === userDeleted.subject) await this.purgeUser(message as FeedMessage<UserDeleted>);
      else if (message.subject === tenantDeleted.subject) await this.endTenant(message as FeedMessage<TenantDeleted>);
    }
    await flush();
  }

  private async scheduleCredential(message: FeedMessage<CredentialIssued>): Promise<void> {
    const { tenantId, issuedAt } = message.data;
    const wanted = this.directory
      .subscriptions(tenantId, issuedAt)
      .flatMap(({ type, ...at }) => (isCredentialEvent(type) ? [{ type, ...at }] : []));
    const inFull = wanted.filter(({ type }) => type === 'OpenIdCredentialIssued').map(({ webhookId }) => webhookId);
    const planned = await Promise.all(wanted.map(({ type, ...at }) => this.append(message, at, type, inFull)));
    // An earlier attempt may have planned for webhooks that were deleted since: their deliveries must exist, as the data key is destroyed
    // only after all of them. The sender cancels them.
    const before = new Set(planned.flatMap(({ sharedBy = [] }) => sharedBy));
    const missing = [...before].filter((webhookId) => !inFull.includes(webhookId));
    await Promise.all(
      missing.map((webhookId) => this.append(message, { webhookId, host: '' }, 'OpenIdCredentialIssued', [...before])),
    );
    const sealed = sealedCredentialOf(message.data);
    if (sealed && !before.size) await this.sealing.destroyDataKeys(tenantId, [sealed.keyId]);
  }

  private async append(
    message: FeedMessage<CredentialIssued>,
    { webhookId, host }: Pick<Subscribed, 'webhookId' | 'host'>,
    type: CredentialEvent,
    inFull: string[],
  ): Promise<ScheduledDelivery> {
    const { id, data } = message;
    const { tenantId, format, userId, profile, credentialConfigurationId, credentialId, issuedAt } = data;
    const deliveryKey = deliveryKeyOf(id, webhookId, type);
    const sealed = type === 'OpenIdCredentialIssued' ? sealedCredentialOf(data) : undefined;
    const delivery = {
      deliveryKey,
      webhookId,
      event: { id, type, timestamp: issuedAt },
      payload: { format, userId, credentialProfile: profile, credentialConfigurationId, credentialId },
      ...(sealed && { sealedCredential: sealed, sharedBy: inFull }),
    };
    return this.schedule(delivery, host, message, tenantId);
  }

  /** The integration event unchanged, for the webhooks that subscribed to it before it occurred. */
  private async scheduleEvent(message: FeedMessage<TenantEvent>): Promise<void> {
    const { id, data, subject, headers } = message;
    const now = this.clock.now().toISOString();
    const timestamp = headers['occurredAt'] ?? now;
    const names = webhookEventsOf(subject);
    const subscribed = this.directory.subscriptions(data.tenantId, timestamp);
    await Promise.all(
      subscribed.map(async ({ webhookId, host, type: wanted }) => {
        const type = names.find((name) => name === wanted);
        if (!type) return;
        const deliveryKey = deliveryKeyOf(id, webhookId, type);
        const event = { id, type, timestamp };
        const payload = webhookEventPayload(type, data);
        await this.schedule({ deliveryKey, webhookId, event, payload }, host, message, data.tenantId);
      }),
    );
  }

  /** The scheduled delivery; idempotent. A new stream is assumed, which is wrong only in a redelivered batch. */
  private async schedule(
    delivery: Omit<ScheduledDelivery, 'attemptAt' | 'deliveryId'>,
    host: string,
    message: FeedMessage,
    tenantId: string,
  ): Promise<ScheduledDelivery> {
    const { deliveryKey } = delivery;
    const context = this.context(message, tenantId);
    const slot = await this.sender.reserveSlot({ tenantId, host, deliveryKey });
    const attemptAt = this.clock.now().toISOString();
    const scheduled = { ...delivery, attemptAt, ...(slot && { deliveryId: slot.deliveryId }) };
    try {
      const decided = await this.streams.decideOn(
        webhookDelivery,
        webhookDeliveryStream(tenantId, deliveryKey),
        this.streams.initial(webhookDelivery),
        (current) => scheduleDelivery(current, scheduled),
        context,
      );
      const offer = { tenantId, requestId: context.requestId, host, decided };
      if (slot) slot.send(offer);
      else this.sender.offer(offer);
      return decided.state.status === 'absent' ? scheduled : decided.state.delivery;
    } catch (error) {
      slot?.leave();
      throw error;
    }
  }

  /** Keys are destroyed first, so that the credentials are unreadable (ADR 0058); then their deliveries end. */
  private async purgeUser(message: FeedMessage<UserDeleted>): Promise<void> {
    const { tenantId, userId } = message.data;
    if (!(await this.readModel.running.waitForHead(CATCH_UP_MS)))
      throw new Error(`${NAME}: projection behind, pending deliveries of a deleted user are not known yet`);
    const rows = await this.readModel.running.db
      .selectFrom('delivery')
      .select(['delivery_key', 'key_id'])
      .where('tenant_id', '=', tenantId)
      .where('user_id', '=', userId)
      .where('key_id', 'is not', null)
      .execute();
    const keyIds = new Set(rows.map(({ key_id: keyId }) => keyId).filter((keyId) => keyId !== null));
    await this.sealing.destroyDataKeys(tenantId, [...keyIds]);
    for (const { delivery_key: deliveryKey } of rows)
      await this.streams.runDecision(
        webhookDelivery,
        webhookDeliveryStream(tenantId, deliveryKey),
        (state) => cancelDelivery(state, 'user-deleted'),
        this.context(message, tenantId),
      );
  }

  private async endTenant(message: FeedMessage<TenantDeleted>): Promise<void> {
    const { tenantId } = message.data;
    for (const webhookId of this.directory.webhookIds(tenantId)) {
      const { state, revision } = await this.streams.runDecision(
        webhook,
        webhookStream(tenantId, webhookId),
        (current) => (current.status === 'active' ? deleteWebhook(current) : []),
        this.context(message, tenantId),
      );
      this.directory.applyOwnWrite(tenantId, webhookId, state, revision);
    }
    await this.streams.runDecision(webhookKeys, webhookKeysStream(tenantId), endKeys, this.context(message, tenantId));
  }

  private context({ id, headers }: FeedMessage, tenantId: string): EventContext {
    const traceparent = headers['traceparent'];
    return {
      ...serviceContext(NAME, tenantId, headers['requestId'] ?? id),
      causationId: id,
      ...(traceparent !== undefined && { traceparent }),
    };
  }
}

const sealedCredentialOf = ({
  documentKeyId: keyId,
  sessionId,
}: CredentialIssued): ScheduledDelivery['sealedCredential'] => (keyId === undefined ? undefined : { keyId, sessionId });
