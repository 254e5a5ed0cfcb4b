import { oauthError, PushedAuthorizationRequest, type RawRequest } from '@attestry/contracts';
import { maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { queryOf } from '../../reading/raw-request/raw-request.js';

/** Parameters of an authorization request; others are ignored wherever they are. */
const BODY_ONLY = [...maxLengthsOf(PushedAuthorizationRequest).keys(), 'response_type', 'code_challenge_method'];

/** RFC 9126 §2.1: the parameters are in the body; those of an address end up in logs. */
export const checkParametersLocation = (request: RawRequest): void => {
  const query = queryOf(request);
  if (BODY_ONLY.some((name) => query.has(name)))
    throw oauthError('invalid_request', 'parameters must be in the body, not in the query string', {
      check: 'check-parameters-location',
    });
};
