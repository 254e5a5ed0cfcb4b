import { Inject } from '@nestjs/common';
import { isUuid, notFound, retrieveOfferContent, type PublicContext } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { openOfferDocument, type OfferDocument } from '../protocol/offer-document.js';
import { isExpired } from '../issuance-session/issuance-session.decisions.js';
import { issuanceSession, issuanceSessionStream } from '../issuance-session/issuance-session.state.js';

/** Only the issued spelling: base64url has more than one for 32 bytes. */
const isExactSecret = (secret: string): boolean =>
  /^[A-Za-z0-9_-]{43}$/.test(secret) && Buffer.from(secret, 'base64url').toString('base64url') === secret;

/** The offer by reference, OID4VCI §4.1.3; the reference gives access to the code, so it ends with it. */
@Operation(retrieveOfferContent)
export class RetrieveOfferContent {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(request: RequestOf<typeof retrieveOfferContent>, { tenant }: PublicContext): Promise<OfferDocument> {
    const [offerId, secret, ...rest] = request.params.reference.split('.');
    if (!isUuid(offerId) || !secret || !isExactSecret(secret) || rest.length) throw notFound();
    const { state } = await this.streams.load(issuanceSession, issuanceSessionStream(tenant.id, offerId));
    if (state.status !== 'offered' || isExpired(state.code, this.clock.now())) throw notFound();
    const document = openOfferDocument(state.origin.sealedDocument, secret, offerId);
    if (!document) throw notFound();
    return document;
  }
}
