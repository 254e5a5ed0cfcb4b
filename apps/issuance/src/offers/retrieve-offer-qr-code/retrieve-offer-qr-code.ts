import {
  AppError,
  httpAnswer,
  notFound,
  retrieveOfferQrCode,
  type HttpAnswer,
  type PublicContext,
} from '@attestry/contracts';
import { chooseMediaType, Operation, type RequestOf } from '@attestry/service-kit';
import { OfferReferences } from '../authorization-offers/offer-references.js';
import { QR_MEDIA_TYPES, QrCodes, type QrMediaType } from '../offer-qr-codes/qr-codes.js';
import { offerReferenceUri } from '../../sessions/offer-document/offer-document.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';

/**
 * The offer by reference, which is shorter than the offer, and of one length for pre-authorized offers: the code stays scannable. It ends with
 * that, since it gives access to the pre-authorized code.
 */
@Operation(retrieveOfferQrCode)
export class RetrieveOfferQrCode {
  constructor(
    private readonly references: OfferReferences,
    private readonly qrCodes: QrCodes,
  ) {}

  async execute(request: RequestOf<typeof retrieveOfferQrCode>, { tenant }: PublicContext): Promise<HttpAnswer> {
    const { reference } = request.params;
    if (!(await this.references.open(tenant.id, reference))) throw notFound();
    const mediaType = chooseMediaType(rawOf(request).headers['accept'], QR_MEDIA_TYPES) as QrMediaType | undefined;
    const headers = { vary: 'Accept' };
    if (mediaType === undefined)
      throw new AppError('notAcceptable', `Accept must allow ${QR_MEDIA_TYPES.join(' or ')}`, { headers });
    const image = await this.qrCodes.render(tenant.id, offerReferenceUri(tenant.baseUrl, reference), mediaType);
    return httpAnswer({ headers: { ...headers, 'content-type': mediaType }, base64: image.toString('base64') });
  }
}
