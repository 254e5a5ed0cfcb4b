import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { invalid, type createOffer as operation, type Offer, type OperationContext } from '@attestry/contracts';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { authorizationOffer, offerUri } from '../protocol/offer-document.js';
import { checkCredentials } from '../protocol/check-credentials.js';
import { OfferEntries } from '../protocol/offer-entries.js';

export class CreateOffer {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

/** An offer of the authorization code flow is its document, and nothing of it is kept. */
@QueryHandler(CreateOffer)
export class CreateOfferHandler implements IQueryHandler<CreateOffer> {
  constructor(private readonly entries: OfferEntries) {}

  async execute({ request: { body }, context }: CreateOffer): Promise<Offer> {
    const { id: tenantId, baseUrl: issuer } = tenantOf(context);
    const { configurationIds, details } = checkCredentials(body.credentials);
    if (details.length) throw invalid(...details);
    await this.entries.of(tenantId, configurationIds);
    return { uri: offerUri(authorizationOffer(issuer, configurationIds, body.request_parameters)) };
  }
}
