import { Inject } from '@nestjs/common';
import { createOffer, invalidBody, type ContextOf, type Offer } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { ClaimUse } from '../../claims/claim-sets/claim-use.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { authorizationOffer as offerDocument } from '../../sessions/offer-document/offer-document.js';
import { OfferedUsers } from '../../users/offered-users/offered-users.js';
import type { ActiveUser } from '../../users/user/user.decisions.js';
import { OfferAddresses } from '../authorization-offers/offer-addresses.js';
import { OfferEntries } from '../offer-entries/offer-entries.js';
import { checkOffer } from './check-offer.js';
import { StoredOffers } from './stored-offers.js';

/** An offer of the authorization code flow is only its document; it is stored when it binds claim sets, a user or an expiry (ADR 0086). */
@Operation(createOffer)
export class CreateOffer {
  constructor(
    private readonly people: OfferedUsers,
    private readonly entries: OfferEntries,
    private readonly claimUse: ClaimUse,
    private readonly names: IssuerNames,
    private readonly addresses: OfferAddresses,
    private readonly stored: StoredOffers,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ body }: RequestOf<typeof createOffer>, context: ContextOf<typeof createOffer>): Promise<Offer> {
    const { id: tenantId } = context.tenant;
    const checked = checkOffer(body, this.clock.now());
    const configurationIds = checked.entries.map(({ configurationId }) => configurationId);
    const { userId } = body;
    const person = userId === undefined ? undefined : await this.loadUser(tenantId, userId);
    // The user's own claims, with which those of the sign-in are merged.
    const known = person && (await this.people.claimsOf(tenantId, person));
    await this.entries.resolveEntries(tenantId, checked.entries, known);
    const warnings = await this.claimUse.check(tenantId, checked.entries);
    const { expiresAt } = checked;
    const issuer = await this.names.current(context.tenant);
    const addressesOf = (issuerState?: string) =>
      this.addresses.addressesOf(
        context.tenant,
        offerDocument(issuer, configurationIds, body.request_parameters, issuerState),
      );
    if (expiresAt === undefined) return addressesOf();
    const stored = await this.stored.store({ ...checked, expiresAt }, configurationIds, userId, context);
    const addresses = await addressesOf(stored.issuerState);
    return { ...addresses, id: stored.id, expiresAt: stored.expiresAt, ...(warnings && { warnings }) };
  }

  /** A user who has a link has signed in, so does not end with the offer that the user began with. */
  private async loadUser(tenantId: string, userId: string): Promise<ActiveUser> {
    const person = await this.people.load(tenantId, userId);
    if (person.sealedLink === undefined) throw invalidBody('userId', NOT_LINKED, userId);
    return person;
  }
}

const NOT_LINKED =
  'must be a user who has signed in with the authentication provider, as the user of this offer does; use a pre-authorized offer for this user';
