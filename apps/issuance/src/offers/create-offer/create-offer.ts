import { Inject } from '@nestjs/common';
import { createOffer, invalidBody, type ContextOf, type Offer } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { isErased, KeyNotFound, Macs, Sealing } from '@attestry/keys';
import {
  bytesFor,
  CLOCK,
  eventContext,
  idFor,
  IDS,
  Operation,
  storeForNew,
  type RequestOf,
} from '@attestry/service-kit';
import { createAuthorizationOffer } from '../../sessions/authorization-offer/authorization-offer.decisions.js';
import {
  authorizationOffer,
  authorizationOfferStream,
} from '../../sessions/authorization-offer/authorization-offer.state.js';
import { ClaimUse } from '../../claims/claim-sets/claim-use.js';
import { nameClaimSets } from '../../claims/claim-sets/claim-sets.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { KnownUsers } from '../../users/known-users/known-users.js';
import { grantContext, makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import {
  authorizationOffer as offerDocument,
  offerQrUrl,
  offerReferenceUri,
  offerUri,
  withoutDraftMembers,
  type AuthorizationOffer,
} from '../../sessions/offer-document/offer-document.js';
import type { UserObject } from '../../formats/map-claims.js';
import { OfferEntries } from '../offer-entries/offer-entries.js';
import { OfferReferences } from '../authorization-offers/offer-references.js';
import type { ActiveUser } from '../../users/user/user.decisions.js';
import { UserClaims } from '../../users/user/user-claims.js';
import { checkOffer, type CheckedOffer } from './check-offer.js';

type Context = ContextOf<typeof createOffer>;

/** An offer of the authorization code flow is only its document; it is stored when it binds claim sets, a user or an expiry (ADR 0086). */
@Operation(createOffer)
export class CreateOffer {
  constructor(
    private readonly streams: Streams,
    private readonly users: KnownUsers,
    private readonly claims: UserClaims,
    private readonly entries: OfferEntries,
    private readonly claimUse: ClaimUse,
    private readonly references: OfferReferences,
    private readonly names: IssuerNames,
    private readonly haip: HaipProfile,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute({ body }: RequestOf<typeof createOffer>, context: Context): Promise<Offer> {
    const { id: tenantId } = context.tenant;
    const checked = checkOffer(body, this.clock.now());
    const configurationIds = checked.entries.map(({ configurationId }) => configurationId);
    const { userId } = body;
    const person = userId === undefined ? undefined : await this.loadUser(tenantId, userId);
    await this.entries.resolveEntries(tenantId, checked.entries, person && (await this.claimsOf(tenantId, person)));
    const warnings = await this.claimUse.check(tenantId, checked.entries);
    const { expiresAt } = checked;
    const issuer = await this.names.current(context.tenant);
    const addressesOf = (issuerState?: string) =>
      this.addresses(context, offerDocument(issuer, configurationIds, body.request_parameters, issuerState));
    if (expiresAt === undefined) return addressesOf();
    const stored = await this.store({ ...checked, expiresAt }, configurationIds, person, context);
    const addresses = await addressesOf(stored.issuerState);
    return { ...addresses, id: stored.id, expiresAt: stored.expiresAt, ...(warnings && { warnings }) };
  }

  private async addresses(
    { tenant: { id: tenantId, baseUrl } }: Context,
    document: AuthorizationOffer,
  ): Promise<Pick<Offer, 'uri' | 'uriByReference' | 'qrUrl'>> {
    const isHaip = await this.haip.isRequired(tenantId);
    const uri = offerUri(isHaip ? withoutDraftMembers(document) : document);
    const reference = this.references.seal(tenantId, document);
    if (reference === undefined) return { uri };
    return { uri, uriByReference: offerReferenceUri(baseUrl, reference), qrUrl: offerQrUrl(baseUrl, reference) };
  }

  private async store(
    { entries, expiresAt }: Required<CheckedOffer>,
    configurationIds: string[],
    person: ActiveUser | undefined,
    context: Context,
  ): Promise<{ id: string; issuerState: string; expiresAt: string }> {
    const { id: tenantId } = context.tenant;
    const userId = person?.id;
    const offerId = idFor(context, 'offer', this.ids);
    const made = makeBearerValue(offerId, idFor(context, 'state', this.ids), bytesFor(context, 'state'));
    const { mac, pepper } = this.macs.mac(made.value, grantContext('issuerState', tenantId, offerId));
    const issuerState = { tokenId: made.tokenId, kind: 'issuerState' as const, mac, keyId: pepper, expiresAt };
    const claimSets = nameClaimSets(entries, () => this.ids.uuid());
    const text = claimSets && (await this.sealForUser(tenantId, userId, JSON.stringify(claimSets.sets)));
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

  /** A user who has a link has signed in, so does not end with the offer that the user began with. */
  private async loadUser(tenantId: string, userId: string): Promise<ActiveUser> {
    const { state } = await this.users.load(tenantId, userId);
    if (state.status !== 'active') throw noSuchUser(userId);
    if (state.sealedLink === undefined) throw invalidBody('userId', NOT_LINKED, userId);
    return state;
  }

  /** The user's own, with which those of the sign-in are merged. */
  private async claimsOf(tenantId: string, person: ActiveUser): Promise<UserObject> {
    const shown = await this.claims.viewOf(tenantId, person);
    if (isErased(shown)) throw noSuchUser(person.id);
    const { claims, authenticationProvider } = shown;
    return { claims, ...(authenticationProvider && { authenticationProvider }) };
  }

  /** Under the user's key too: the claims end with the user, whatever is known of the offer by then. */
  private async sealForUser(tenantId: string, userId: string | undefined, text: string): Promise<string> {
    if (userId === undefined) return text;
    try {
      await this.sealing.createDataKey(tenantId, 'user', userId);
      return await this.sealing.sealText(tenantId, 'user', userId, text);
    } catch (error) {
      // Being deleted: its key is destroyed first.
      if (error instanceof KeyNotFound) throw noSuchUser(userId);
      throw error;
    }
  }
}

const NOT_LINKED =
  'must be a user who has signed in with the authentication provider, as the user of this offer does; use a pre-authorized offer for this user';

const noSuchUser = (userId: string) => invalidBody('userId', 'must be a user of this tenant', userId);
