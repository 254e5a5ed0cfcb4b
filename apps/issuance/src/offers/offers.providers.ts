import { AuthorizationOffers } from './authorization-offers/authorization-offers.js';
import { OfferAddresses } from './authorization-offers/offer-addresses.js';
import { OfferReferences } from './authorization-offers/offer-references.js';
import { StoredOffers } from './create-offer/stored-offers.js';
import { OfferedSessions } from './create-pre-authorized-offer/offered-sessions.js';
import { OfferEntries } from './offer-entries/offer-entries.js';
import { QrCodes } from './offer-qr-codes/qr-codes.js';
import { PreAuthorizedOffersReadModel } from './pre-authorized-offers/pre-authorized-offers.read-model.js';
import { SessionKeys } from './session-keys/session-keys.js';

export const offersProviders = [
  AuthorizationOffers,
  OfferReferences,
  OfferAddresses,
  StoredOffers,
  OfferedSessions,
  PreAuthorizedOffersReadModel,
  QrCodes,
  OfferEntries,
  SessionKeys,
];
