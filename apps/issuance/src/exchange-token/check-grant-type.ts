import { oauthError } from '@attestry/contracts';
import { AUTHORIZATION_CODE_GRANT, PRE_AUTHORIZED_GRANT } from '../protocol/offer-document.js';

/** RFC 6749 §5.2 */
export const checkGrantType = (
  grantType: string | undefined,
): typeof AUTHORIZATION_CODE_GRANT | typeof PRE_AUTHORIZED_GRANT => {
  if (grantType === undefined)
    throw oauthError('invalid_request', 'grant_type is missing', { check: 'check-grant-type' });
  if (grantType !== PRE_AUTHORIZED_GRANT && grantType !== AUTHORIZATION_CODE_GRANT)
    throw oauthError(
      'unsupported_grant_type',
      `grant_type must be ${PRE_AUTHORIZED_GRANT} or ${AUTHORIZATION_CODE_GRANT}`,
      { check: 'check-grant-type' },
    );
  return grantType;
};
