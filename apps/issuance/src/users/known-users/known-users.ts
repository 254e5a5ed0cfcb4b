import { Injectable } from '@nestjs/common';
import {
  EventStore,
  NO_STREAM,
  readEvent,
  Streams,
  type Decide,
  type Decided,
  type EventContext,
  type Loaded,
} from '@attestry/event-store';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import type { UserEvent } from '../user/user.events.js';
import { user, userStream, type UserState } from '../user/user.state.js';
import { firstSessionId } from './first-session-id.js';

/** Users with a stream of their own, and those who began with an offer (ADR 0071). */
@Injectable()
export class KnownUsers {
  constructor(
    private readonly streams: Streams,
    private readonly store: EventStore,
  ) {}

  async load(tenantId: string, userId: string): Promise<Loaded<UserState>> {
    const loaded = await this.streams.load(user, userStream(tenantId, userId));
    if (loaded.revision !== NO_STREAM) return loaded;
    const [stored] = await this.store.readStream(issuanceSessionStream(tenantId, firstSessionId(userId)), { limit: 1 });
    const event = stored && readEvent(issuanceSession, stored);
    if (event?.type !== 'PreAuthorizedOfferCreated' || !event.data.newUser || event.data.userId !== userId)
      return loaded;
    return { ...loaded, state: { status: 'active', id: userId, createdAt: event.data.createdAt, fromOffer: true } };
  }

  /** Runs a decision like `Streams.runDecision`, from the state that {@link load} returns. */
  async runDecision(
    tenantId: string,
    userId: string,
    decide: Decide<UserState, UserEvent>,
    context: EventContext,
  ): Promise<Decided<UserState, UserEvent>> {
    const given = await this.load(tenantId, userId);
    return this.streams.decideOn(
      user,
      userStream(tenantId, userId),
      given,
      // A state that was loaded again does not know the offer.
      (state, loaded) => decide(loaded.revision === NO_STREAM ? given.state : state, loaded),
      context,
    );
  }
}
