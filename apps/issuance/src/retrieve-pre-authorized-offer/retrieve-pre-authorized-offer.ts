import { Inject } from '@nestjs/common';
import {
  notFound,
  retrievePreAuthorizedOffer,
  type ClientContext,
  type IssuedCredential,
  type PreAuthorizedOfferStatus,
} from '@attestry/contracts';
import { EventStore, readEvent, Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { hasRights, isExpired } from '../issuance-session/issuance-session.decisions.js';
import type { CredentialIssuedData, IssuanceSessionEvent } from '../issuance-session/issuance-session.events.js';
import { issuanceSession, issuanceSessionStream } from '../issuance-session/issuance-session.state.js';
import { user, userStream } from '../user/user.state.js';

/** An offer's state follows from its first events: once a credential is issued, only further ones are. */
const MAX_EVENTS = 512;
const MAX_SHOWN = 500;

@Operation(retrievePreAuthorizedOffer)
export class RetrievePreAuthorizedOffer {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { params }: RequestOf<typeof retrievePreAuthorizedOffer>,
    { tenant }: ClientContext,
  ): Promise<PreAuthorizedOfferStatus> {
    const stored = await this.store.readStream(issuanceSessionStream(tenant.id, params.id), { limit: MAX_EVENTS });
    const events = stored.map((event) => readEvent(issuanceSession, event));
    const [created] = events;
    // Sessions of authorization requests are no offers.
    if (created?.type !== 'OfferCreated') throw notFound();
    const { sessionId: id, userId, entries, code, createdAt } = created.data;
    const person = await this.streams.load(user, userStream(tenant.id, userId));
    // One who expired with the offer, or has no event yet, does not hide it.
    if (person.state.status === 'deleted') throw notFound();
    const issued = events.flatMap((event) => (event.type === 'CredentialIssued' ? [event.data] : []));
    return {
      id,
      state: stateOf(events, this.clock.now()),
      credentials: entries.map(({ credentialConfigurationId }) => credentialConfigurationId),
      userId,
      createdAt,
      expiresAt: code.expiresAt,
      issuedCredentials: issued.slice(0, MAX_SHOWN).map(issuedCredential),
    };
  }
}

/** @throws AppError 404 for a deleted offer */
const stateOf = (events: readonly IssuanceSessionEvent[], now: Date): PreAuthorizedOfferStatus['state'] => {
  const session = events.reduce(issuanceSession.evolve, issuanceSession.initial);
  switch (session.status) {
    case 'offered':
      return isExpired(session.code, now) ? 'EXPIRED' : 'CREATED';
    case 'redeemed':
      if (Object.keys(session.issued).length > 0) return 'CLAIMED';
      return hasRights(session, now) ? 'REDEEMED' : 'EXPIRED';
    // The wallet revoked its token.
    case 'revoked':
      return events.some(({ type }) => type === 'CredentialIssued') ? 'CLAIMED' : 'EXPIRED';
    case 'locked':
      return 'LOCKED';
    default:
      throw notFound();
  }
};

const issuedCredential = (issued: CredentialIssuedData): IssuedCredential => ({
  id: issued.credentialId,
  credentialConfigurationId: issued.credentialConfigurationId,
  type: issued.credentialType,
  format: issued.format,
  issuedDate: issued.issuedAt,
  ...(issued.validUntil !== undefined && { validUntil: issued.validUntil }),
});
