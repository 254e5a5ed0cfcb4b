import { oauthError, type RawRequest } from '@attestry/contracts';
import { mediaType } from '../protocol/raw-request.js';

/** RFC 6749 §3.2 and Appendix B: only a form. */
export const checkContentType = (request: RawRequest): void => {
  if (mediaType(request) !== 'application/x-www-form-urlencoded')
    throw oauthError('invalid_request', 'the content type must be application/x-www-form-urlencoded', {
      check: 'check-content-type',
    });
};
