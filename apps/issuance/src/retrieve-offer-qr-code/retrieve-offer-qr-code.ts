import {
  AppError,
  httpAnswer,
  MAX_QR_TEXT,
  notFound,
  retrieveOfferQrCode,
  type HttpAnswer,
  type PublicContext,
} from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { OfferReferences } from '../authorization-offer/offer-references.js';
import { QR_MEDIA_TYPES, QrCodes, type QrMediaType } from '../offer-qr-codes/qr-codes.js';
import { offerReferenceUri, offerUri } from '../protocol/offer-document.js';
import { rawOf } from '../protocol/raw-request.js';
import { chooseMediaType } from '../status-list/conditions.js';

/** It ends with the offer by reference: who scans it gets the code. */
@Operation(retrieveOfferQrCode)
export class RetrieveOfferQrCode {
  constructor(
    private readonly references: OfferReferences,
    private readonly qrCodes: QrCodes,
  ) {}

  async execute(request: RequestOf<typeof retrieveOfferQrCode>, { tenant }: PublicContext): Promise<HttpAnswer> {
    const { reference } = request.params;
    const document = await this.references.open(tenant.id, reference);
    if (!document) throw notFound();
    const mediaType = chooseMediaType(rawOf(request).headers['accept'], QR_MEDIA_TYPES) as QrMediaType | undefined;
    const headers = { vary: 'Accept' };
    if (mediaType === undefined)
      throw new AppError('notAcceptable', `Accept must allow ${QR_MEDIA_TYPES.join(' or ')}`, { headers });
    const uri = offerUri(document);
    const text = uri.length <= MAX_QR_TEXT ? uri : offerReferenceUri(document.credential_issuer, reference);
    const image = await this.qrCodes.render(tenant.id, text, mediaType);
    return httpAnswer({ headers: { ...headers, 'content-type': mediaType }, base64: image.toString('base64') });
  }
}
