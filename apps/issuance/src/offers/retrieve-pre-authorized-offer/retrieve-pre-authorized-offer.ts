import { Inject } from '@nestjs/common';
import {
  notFound,
  retrievePreAuthorizedOffer,
  type ClientContext,
  type PreAuthorizedOfferStatus,
} from '@attestry/contracts';
import { EventStore, readEvent, Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { offerStatus, recordAfter, type OfferRecord } from '../pre-authorized-offers/offer-record.js';
import { user, userStream } from '../../users/user/user.state.js';

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
    const record = stored
      .map((event) => readEvent(issuanceSession, event))
      .reduce<OfferRecord | undefined>((before, event) => recordAfter(before, event, MAX_SHOWN), undefined);
    if (!record) throw notFound();
    const person = await this.streams.load(user, userStream(tenant.id, record.userId));
    // One who expired with the offer, or has no event yet, does not hide it.
    if (person.state.status === 'deleted') throw notFound();
    return offerStatus(record, this.clock.now());
  }
}
