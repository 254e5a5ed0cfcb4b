import { Injectable } from '@nestjs/common';
import type { Offer, TenantContext } from '@attestry/contracts';
import {
  offerQrUrl,
  offerReferenceUri,
  offerUri,
  withoutDraftMembers,
  type AuthorizationOffer,
} from '../../sessions/offer-document/offer-document.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import { OfferReferences } from './offer-references.js';

/** How offers of the authorization code flow are handed to wallets. */
@Injectable()
export class OfferAddresses {
  constructor(
    private readonly haip: HaipProfile,
    private readonly references: OfferReferences,
  ) {}

  async addressesOf(
    { id: tenantId, baseUrl }: TenantContext,
    document: AuthorizationOffer,
  ): Promise<Pick<Offer, 'uri' | 'uriByReference' | 'qrUrl'>> {
    const isHaip = await this.haip.isRequired(tenantId);
    const uri = offerUri(isHaip ? withoutDraftMembers(document) : document);
    const reference = this.references.seal(tenantId, document);
    if (reference === undefined) return { uri };
    return { uri, uriByReference: offerReferenceUri(baseUrl, reference), qrUrl: offerQrUrl(baseUrl, reference) };
  }
}
