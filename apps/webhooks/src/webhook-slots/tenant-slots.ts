import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type Decide, type EventContext } from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';
import { webhook, webhookStream } from '../webhook/webhook.state.js';
import {
  changeSlotUrl,
  claimSlot,
  correctSlotUrl,
  needsOwners,
  releaseSlot,
  type Owners,
} from './webhook-slots.decisions.js';
import type { WebhookSlotsEvent } from './webhook-slots.events.js';
import { webhookSlots, webhookSlotsStream, type WebhookSlotsState } from './webhook-slots.state.js';

/** Concurrent calls of one tenant append to one stream: enough attempts for as many as the limits allow. */
const MAX_ATTEMPTS = 10;

interface SlotCommand {
  webhookId: string;
  url: string;
}

/** The slots of a tenant's webhooks, with the facts that their decisions need. */
@Injectable()
export class TenantSlots {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws AppError 400 when a limit is reached */
  async claim(tenantId: string, command: SlotCommand, events: EventContext): Promise<void> {
    const now = this.clock.now().toISOString();
    await this.decideSlots(tenantId, events, async (state) =>
      claimSlot(state, command, { now, owners: await this.ownersOf(tenantId, state, command) }),
    );
  }

  /** @throws AppError 400 on `url` */
  async changeUrl(tenantId: string, command: SlotCommand, events: EventContext): Promise<void> {
    const now = this.clock.now().toISOString();
    await this.decideSlots(tenantId, events, async (state) =>
      changeSlotUrl(state, command, { now, owners: await this.ownersOf(tenantId, state, command) }),
    );
  }

  async correctUrl(tenantId: string, command: SlotCommand, events: EventContext): Promise<void> {
    await this.decideSlots(tenantId, events, (state) => correctSlotUrl(state, command));
  }

  async release(tenantId: string, webhookId: string, events: EventContext): Promise<void> {
    await this.decideSlots(tenantId, events, (state) => releaseSlot(state, webhookId));
  }

  private async decideSlots(
    tenantId: string,
    events: EventContext,
    decide: Decide<WebhookSlotsState, WebhookSlotsEvent>,
  ): Promise<void> {
    const options = { maxAttempts: MAX_ATTEMPTS };
    await this.streams.runDecision(webhookSlots, webhookSlotsStream(tenantId), decide, events, options);
  }

  private async ownersOf(tenantId: string, slots: WebhookSlotsState, command: SlotCommand): Promise<Owners> {
    if (!needsOwners(slots, command)) return new Map();
    const owners = slots.held.map(async ({ webhookId }) => {
      const { state } = await this.streams.load(webhook, webhookStream(tenantId, webhookId));
      return [webhookId, state.status] as const;
    });
    return new Map(await Promise.all(owners));
  }
}
