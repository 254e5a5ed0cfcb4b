import { oauthError, type RawRequest } from '@attestry/contracts';
import { queryOf } from '../protocol/raw-request.js';

/** RFC 9126 §2.1: the parameters are in the body; those of an address end up in logs. */
export const checkParametersLocation = (request: RawRequest): void => {
  if (queryOf(request).size > 0)
    throw oauthError('invalid_request', 'parameters must be in the body, not in the query string', {
      check: 'check-parameters-location',
    });
};
