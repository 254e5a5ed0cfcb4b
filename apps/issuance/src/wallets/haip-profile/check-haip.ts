import { AppError, bearerChallenge, dpopChallenge, oauthError, type OpenIdConfiguration } from '@attestry/contracts';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { attestationError } from '../client-attestation/client-attestations.js';
import type { RequestedDetail } from '../../sessions/authorization-details/authorization-details.js';
import type { DpopProof } from '../dpop/dpop-proof.js';
import { dpopError } from '../dpop/dpop-proofs.js';
import { AUTHORIZATION_CODE_GRANT } from '../../sessions/offer-document/offer-document.js';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';

// Refusals of the profile `haip` (HAIP 1.0 §4, ADR 0095), in addition to those of every tenant.

const check = 'check-haip';

/** HAIP 1.0 §4.3: `scope` selects the credentials. */
const refuseDetails = (details: readonly RequestedDetail[] | undefined): void => {
  if (details)
    throw oauthError(
      'invalid_authorization_details',
      'authorization_details must not be sent: this issuer requires scope (HAIP 1.0)',
      { check },
    );
};

/** Rules of the authorization and the PAR endpoint; that requests are pushed is a setting of its own. @throws AppError 400 */
export const checkHaipAuthorization = (
  { profile }: Pick<OpenIdConfiguration, 'profile'>,
  { details }: { details?: readonly RequestedDetail[] },
): void => {
  if (profile === 'haip') refuseDetails(details);
};

export interface HaipTokenRequest {
  grant: string;
  authorizationDetails?: readonly RequestedDetail[];
}

/** §4, §4.4.1: the wallet is authenticated, and its tokens are bound to a key. @throws AppError 400, 401 */
export const checkHaipTokenRequest = (
  { grant, authorizationDetails }: HaipTokenRequest,
  wallet: RegisteredWallet | undefined,
  proof: DpopProof | undefined,
): void => {
  if (grant === 'preAuthorizedCode')
    throw oauthError(
      'unsupported_grant_type',
      `grant_type must be ${AUTHORIZATION_CODE_GRANT} or refresh_token (HAIP 1.0)`,
      { check },
    );
  if (!wallet?.rootCertificates)
    throw attestationError('client_id must be the one of a wallet that attests itself (HAIP 1.0)');
  if (!proof) throw dpopError('a DPoP proof is required of every client (HAIP 1.0)');
  refuseDetails(authorizationDetails);
};

const EARLIER = 'the access token was issued before this issuer required HAIP 1.0';

/**
 * §4, of the credential endpoints: what was authorized before the profile was set is not issued after.
 * @param wallet of the session, where a token is accepted after its end
 * @throws AppError 401
 */
export const checkHaipSession = (
  { origin, accessToken }: Pick<RedeemedSession, 'origin' | 'accessToken'>,
  wallet?: Pick<RegisteredWallet, 'rootCertificates'>,
): void => {
  const isRegistered = origin.kind === 'authorizationRequest' && origin.isRegistered;
  const isPublic = wallet !== undefined && !wallet.rootCertificates;
  if (isRegistered && !isPublic && accessToken.jkt !== undefined) return;
  const challenge = accessToken.jkt === undefined ? bearerChallenge : dpopChallenge;
  throw oauthError('invalid_token', EARLIER, { check, headers: challenge('invalid_token', EARLIER) });
};

/** §4.2 */
export const preAuthorizedOfferError = (): AppError =>
  new AppError(
    'invalid',
    'Pre-authorized offers must not be created while the profile of the tenant is haip; create an offer of the authorization code flow',
    { check },
  );
