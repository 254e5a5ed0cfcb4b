import { oauthError } from '@attestry/contracts';
import { PRE_AUTHORIZED_GRANT } from '../create-pre-authorized-offer/offer-document.js';

/** RFC 6749 §5.2 */
export const checkGrantType = (grantType: string | undefined): void => {
  if (grantType === undefined)
    throw oauthError('invalid_request', 'grant_type is missing', { check: 'check-grant-type' });
  if (grantType !== PRE_AUTHORIZED_GRANT)
    throw oauthError('unsupported_grant_type', 'the grant type is not supported', { check: 'check-grant-type' });
};
