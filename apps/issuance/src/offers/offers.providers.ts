import { AuthorizationOffers } from './authorization-offers/authorization-offers.js';
import { OfferReferences } from './authorization-offers/offer-references.js';
import { OfferEntries } from './offer-entries/offer-entries.js';
import { QrCodes } from './offer-qr-codes/qr-codes.js';
import { PreAuthorizedOffersReadModel } from './pre-authorized-offers/pre-authorized-offers.read-model.js';
import { SessionKeys } from './session-keys/session-keys.js';

export const offersProviders = [
  AuthorizationOffers,
  OfferReferences,
  PreAuthorizedOffersReadModel,
  QrCodes,
  OfferEntries,
  SessionKeys,
];
