import { Inject, Injectable } from '@nestjs/common';
import type { ContextOf, createOffer } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { Macs, Sealing } from '@attestry/keys';
import { bytesFor, CLOCK, eventContext, idFor, IDS, storeForNew } from '@attestry/service-kit';
import { nameClaimSets } from '../../claims/claim-sets/claim-sets.js';
import { createAuthorizationOffer } from '../../sessions/authorization-offer/authorization-offer.decisions.js';
import {
  authorizationOffer,
  authorizationOfferStream,
} from '../../sessions/authorization-offer/authorization-offer.state.js';
import { grantContext, makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { OfferedUsers } from '../../users/offered-users/offered-users.js';
import type { CheckedOffer } from './check-offer.js';

type Context = ContextOf<typeof createOffer>;

/** Offers that bind claim sets, a user or an expiry (ADR 0086). */
@Injectable()
export class StoredOffers {
  constructor(
    private readonly streams: Streams,
    private readonly people: OfferedUsers,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async store(
    { entries, expiresAt }: Required<CheckedOffer>,
    configurationIds: string[],
    userId: string | undefined,
    context: Context,
  ): Promise<{ id: string; issuerState: string; expiresAt: string }> {
    const { id: tenantId } = context.tenant;
    const offerId = idFor(context, 'offer', this.ids);
    const made = makeBearerValue(offerId, idFor(context, 'state', this.ids), bytesFor(context, 'state'));
    const { mac, pepper } = this.macs.mac(made.value, grantContext('issuerState', tenantId, offerId));
    const issuerState = { tokenId: made.tokenId, kind: 'issuerState' as const, mac, keyId: pepper, expiresAt };
    const claimSets = nameClaimSets(entries, () => this.ids.uuid());
    const sets = claimSets && JSON.stringify(claimSets.sets);
    // Under the user's key too: the claims end with the user, whatever is known of the offer by then.
    const text = sets === undefined || userId === undefined ? sets : await this.people.sealFor(tenantId, userId, sets);
    const kept =
      text === undefined
        ? undefined
        : await storeForNew(this.sealing, context, { tenantId, purpose: 'session', id: offerId, text });
    const { state } = await this.streams.decideOn(
      authorizationOffer,
      authorizationOfferStream(tenantId, offerId),
      this.streams.initial(authorizationOffer),
      (current) =>
        createAuthorizationOffer(
          current,
          {
            offerId,
            configurationIds,
            ...(userId !== undefined && { userId }),
            issuerState,
            ...(claimSets && { identifiers: claimSets.identifiers }),
            ...(kept && { storedClaimSets: kept.stored }),
          },
          this.clock.now(),
        ),
      eventContext(context),
      { once: true, unit: { writes: kept?.newKey ? [kept.newKey] : [] } },
    );
    // An earlier attempt of this call may have created it.
    return {
      id: offerId,
      issuerState: made.value,
      expiresAt: state.status === 'open' ? state.issuerState.expiresAt : expiresAt,
    };
  }
}
