import { conflict, notFound, oauthError } from '@attestry/contracts';
import { isExpired } from '../issuance-session/issuance-session.decisions.js';
import type { RequestedDetail, RequestedEntries } from '../authorization-details/authorization-details.js';
import type { AuthorizationOfferData, AuthorizationOfferEvent } from './authorization-offer.events.js';
import type { AuthorizationOfferState, OpenOffer } from './authorization-offer.state.js';

export const createAuthorizationOffer = (
  state: AuthorizationOfferState,
  offer: Omit<AuthorizationOfferData, 'createdAt'>,
  now: Date,
): AuthorizationOfferEvent[] => {
  if (state.status !== 'absent') throw conflict('The offer exists already');
  return [{ type: 'AuthorizationOfferCreated', data: { ...offer, createdAt: now.toISOString() } }];
};

/** Current offers only; a deleted or expired one answers 404. */
export const deleteAuthorizationOffer = (state: AuthorizationOfferState, now: Date): AuthorizationOfferEvent[] => {
  const offer = currentOffer(state, now);
  if (!offer) throw notFound();
  return [{ type: 'AuthorizationOfferDeleted', data: { offerId: offer.id, deletedAt: now.toISOString() } }];
};

export const currentOffer = (state: AuthorizationOfferState, now: Date): OpenOffer | undefined =>
  state.status === 'open' && !isExpired(state.issuerState, now) ? state : undefined;

/**
 * The part of an authorization request that the offer covers. A scope may also name configurations that were not offered, which are left
 * out (RFC 6749 §3.3); `authorization_details` may not.
 * @throws AppError `invalid_scope`, `invalid_authorization_details`
 */
export const entriesOfOffer = (
  { id, configurationIds }: OpenOffer,
  { entries, detailed }: RequestedEntries,
  details: readonly RequestedDetail[] = [],
): RequestedEntries => {
  const offered = new Set(configurationIds);
  if (details.some(({ credentialConfigurationId }) => !offered.has(credentialConfigurationId)))
    throw oauthError(
      'invalid_authorization_details',
      'credential_configuration_id must be a credential configuration of the offer that issuer_state names',
      { check: 'entries-of-offer' },
    );
  const covered = entries.filter(({ credentialConfigurationId }) => offered.has(credentialConfigurationId));
  if (covered.length === 0)
    throw oauthError(
      'invalid_scope',
      'scope must name a credential configuration of the offer that issuer_state names',
      { check: 'entries-of-offer' },
    );
  return { entries: covered, ...(detailed && { detailed: detailed.filter((one) => offered.has(one)) }), offerId: id };
};
