import { oauthError, type RawRequest } from '@attestry/contracts';
import { queryOf } from '../../reading/raw-request/raw-request.js';

const BODY_ONLY = [
  ...['grant_type', 'pre-authorized_code', 'tx_code', 'authorization_details', 'access_token', 'code'],
  ...['code_verifier', 'refresh_token'],
];

/** RFC 6749 §2.3.1, RFC 6750 §5.3: codes and tokens in an address end up in logs and histories. */
export const checkParametersLocation = (request: RawRequest): void => {
  const query = queryOf(request);
  const misplaced = BODY_ONLY.find((name) => query.has(name));
  if (misplaced !== undefined)
    throw oauthError('invalid_request', `${misplaced} must not be in the query string`, {
      check: 'check-parameters-location',
    });
};
