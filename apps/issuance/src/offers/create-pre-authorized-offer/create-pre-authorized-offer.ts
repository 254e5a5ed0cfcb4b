import { Inject } from '@nestjs/common';
import { createPreAuthorizedOffer, type ContextOf, type PreAuthorizedOffer } from '@attestry/contracts';
import type { Ids } from '@attestry/event-store';
import { idFor, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { ClaimUse } from '../../claims/claim-sets/claim-use.js';
import { nameClaimSets } from '../../claims/claim-sets/claim-sets.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { OfferedUsers } from '../../users/offered-users/offered-users.js';
import { preAuthorizedOfferError } from '../../wallets/haip-profile/check-haip.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import { OfferEntries } from '../offer-entries/offer-entries.js';
import { checkOfferRequest } from './check-offer-request.js';
import { OfferedSessions } from './offered-sessions.js';

@Operation(createPreAuthorizedOffer)
export class CreatePreAuthorizedOffer {
  constructor(
    private readonly names: IssuerNames,
    private readonly haip: HaipProfile,
    private readonly people: OfferedUsers,
    private readonly entries: OfferEntries,
    private readonly claimUse: ClaimUse,
    private readonly sessions: OfferedSessions,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    { body }: RequestOf<typeof createPreAuthorizedOffer>,
    context: ContextOf<typeof createPreAuthorizedOffer>,
  ): Promise<PreAuthorizedOffer> {
    const { id: tenantId } = context.tenant;
    const issuer = await this.names.current(context.tenant);
    await this.haip.enforce(tenantId, () => {
      throw preAuthorizedOfferError();
    });
    const { entries: checked, seconds, claims, stored } = checkOfferRequest(body);
    const configurationIds = checked.map(({ configurationId }) => configurationId);
    const claimSets = nameClaimSets(checked, () => this.ids.uuid());
    const userId = body.userId ?? idFor(context, 'user', this.ids);
    const person = body.userId === undefined ? undefined : await this.people.load(tenantId, userId);
    // The credential endpoint merges the claims in the same way, without claim sets.
    const known = person && (await this.people.claimsOf(tenantId, person));
    const entries = await this.entries.resolveEntries(tenantId, checked, {
      ...known,
      claims: { ...known?.claims, ...claims },
      areComplete: true,
    });
    const warnings = await this.claimUse.check(tenantId, checked, { claims, persisted: Object.keys(stored) });
    const { transactionCodeConfiguration: transactionCode } = body;
    const offer = await this.sessions.create(
      { issuer, configurationIds, entries, userId, person, claims, claimSets, stored, seconds, transactionCode },
      context,
    );
    return { ...offer, ...(warnings && { warnings }) };
  }
}
