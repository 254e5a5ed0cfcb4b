import { Inject, Injectable } from '@nestjs/common';
import { oauthError } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { isErased, Macs, Sealing } from '@attestry/keys';
import { Budgets, CLOCK } from '@attestry/service-kit';
import { claimSetsFor, type ClaimSet, type ClaimSets } from '../../claims/claim-sets/claim-sets.js';
import type { RequestedDetail, RequestedEntries } from '../../sessions/authorization-details/authorization-details.js';
import { grantContext, parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { currentOffer, entriesOfOffer } from '../../sessions/authorization-offer/authorization-offer.decisions.js';
import {
  authorizationOffer,
  authorizationOfferStream,
  type OpenOffer,
} from '../../sessions/authorization-offer/authorization-offer.state.js';

/** Sessions of one person that get a copy of an offer's claim sets within an hour: each is stored until the session ends. */
const COPIES_PER_HOUR = 20;
const HOUR_MS = 3_600_000;

/** Content of an authorization request, with the offer that it names. */
export interface OfferRequested {
  issuerState?: string;
  details?: RequestedDetail[];
}

/** Stored offers that authorization requests name by `issuer_state` (OID4VCI §5.1.3). */
@Injectable()
export class AuthorizationOffers {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly budgets: Budgets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * The request within the offer that it names. A request without `issuer_state` is returned as it is. One that names no offer is
   * refused, not ignored: the holder would get a credential with other claims than the offer has.
   * @throws AppError `invalid_request` and those of {@link entriesOfOffer}
   */
  async restrictRequest(
    tenantId: string,
    { issuerState, details }: OfferRequested,
    requested: RequestedEntries,
  ): Promise<RequestedEntries> {
    if (issuerState === undefined) return requested;
    const offer = await this.findByState(tenantId, issuerState);
    if (!offer)
      throw oauthError('invalid_request', 'issuer_state names no current offer of this issuer', {
        check: 'authorization-offers',
      });
    return entriesOfOffer(offer, requested, details);
  }

  /**
   * Claim sets for the entries of a request, once the person is known. The offer may have ended since.
   * @throws AppError `access_denied`, 429 for too many sessions of the person
   */
  async claimSetsOf(
    tenantId: string,
    { offerId, entries }: RequestedEntries,
    { sessionId, userId }: { sessionId: string; userId: string },
  ): Promise<ClaimSets | undefined> {
    if (offerId === undefined) return undefined;
    const offer = await this.load(tenantId, offerId);
    if (!offer) throw ended();
    if (offer.userId !== undefined && offer.userId !== userId) throw denied('the offer is for another person');
    const { identifiers, storedClaimSets } = offer;
    if (!identifiers || !storedClaimSets) return undefined;
    await this.budgets.countUse(sessionId, [
      {
        name: 'offer-sign-ins',
        owner: tenantId,
        key: JSON.stringify([offerId, userId]),
        limit: COPIES_PER_HOUR,
        windowMs: HOUR_MS,
        message: `a person can sign in with an offer at most ${COPIES_PER_HOUR} times an hour`,
      },
    ]);
    const opened = await this.sealing.openStored(tenantId, 'session', storedClaimSets);
    const text =
      isErased(opened) || offer.userId === undefined ? opened : await this.sealing.openSealed(tenantId, 'user', opened);
    if (isErased(text)) throw ended();
    const configurationIds = new Set(entries.map(({ credentialConfigurationId }) => credentialConfigurationId));
    const sets = JSON.parse(text) as ClaimSet[];
    return claimSetsFor({ identifiers, sets }, configurationIds);
  }

  /** The tenant is the host's, so another tenant's value names no offer. */
  async findByState(tenantId: string, issuerState: string): Promise<OpenOffer | undefined> {
    const named = parseBearerValue(issuerState);
    const offer = named && (await this.load(tenantId, named.sessionId));
    if (!offer) return undefined;
    const { mac, keyId: pepper } = offer.issuerState;
    const isKnown = this.macs.verifyMac(named.value, { mac, pepper }, grantContext('issuerState', tenantId, offer.id));
    return isKnown ? offer : undefined;
  }

  private async load(tenantId: string, offerId: string): Promise<OpenOffer | undefined> {
    const { state } = await this.streams.load(authorizationOffer, authorizationOfferStream(tenantId, offerId));
    return currentOffer(state, this.clock.now());
  }
}

const denied = (description: string) => oauthError('access_denied', description, { check: 'authorization-offers' });
const ended = () => denied('the offer was deleted or has expired');
