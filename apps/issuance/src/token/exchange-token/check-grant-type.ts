import { oauthError } from '@attestry/contracts';
import {
  AUTHORIZATION_CODE_GRANT,
  PRE_AUTHORIZED_GRANT,
  REFRESH_TOKEN_GRANT,
} from '../../sessions/offer-document/offer-document.js';

const GRANTS = [PRE_AUTHORIZED_GRANT, AUTHORIZATION_CODE_GRANT, REFRESH_TOKEN_GRANT] as const;
export type GrantType = (typeof GRANTS)[number];

/** RFC 6749 §5.2 */
export const checkGrantType = (grantType: string | undefined): GrantType => {
  if (grantType === undefined)
    throw oauthError('invalid_request', 'grant_type is missing', { check: 'check-grant-type' });
  const known = GRANTS.find((grant) => grant === grantType);
  if (!known)
    throw oauthError('unsupported_grant_type', `grant_type must be one of ${GRANTS.join(', ')}`, {
      check: 'check-grant-type',
    });
  return known;
};
