import { mediaTypeOf, oauthError, type RawRequest } from '@attestry/contracts';

/** RFC 6749 §3.2 and Appendix B: only a form. */
export const checkContentType = (request: RawRequest): void => {
  if (mediaTypeOf(request.headers['content-type']) !== 'application/x-www-form-urlencoded')
    throw oauthError('invalid_request', 'the content type must be application/x-www-form-urlencoded', {
      check: 'check-content-type',
    });
};
