import { createOffer, invalid, type ClientContext, type Offer } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { authorizationOffer, offerUri } from '../protocol/offer-document.js';
import { checkCredentials } from '../protocol/check-credentials.js';
import { OfferEntries } from '../protocol/offer-entries.js';

/** An offer of the authorization code flow is only its document; nothing is stored. */
@Operation(createOffer)
export class CreateOffer {
  constructor(private readonly entries: OfferEntries) {}

  async execute({ body }: RequestOf<typeof createOffer>, { tenant }: ClientContext): Promise<Offer> {
    const { id: tenantId, baseUrl: issuer } = tenant;
    const { configurationIds, details } = checkCredentials(body.credentials);
    if (details.length) throw invalid(...details);
    await this.entries.resolveEntries(tenantId, configurationIds);
    return { uri: offerUri(authorizationOffer(issuer, configurationIds, body.request_parameters)) };
  }
}
