import { notFound, retrieveOfferContent, type PublicContext } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { OfferReferences } from '../authorization-offers/offer-references.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import {
  withoutDraftMembers,
  type AuthorizationOffer,
  type OfferDocument,
} from '../../sessions/offer-document/offer-document.js';

/** The offer by reference, OID4VCI §4.1.3. */
@Operation(retrieveOfferContent)
export class RetrieveOfferContent {
  constructor(
    private readonly references: OfferReferences,
    private readonly haip: HaipProfile,
  ) {}

  async execute(
    { params }: RequestOf<typeof retrieveOfferContent>,
    { tenant }: PublicContext,
  ): Promise<OfferDocument | AuthorizationOffer> {
    const document = await this.references.open(tenant.id, params.reference);
    if (!document) throw notFound();
    return (await this.haip.isRequired(tenant.id)) ? withoutDraftMembers(document) : document;
  }
}
