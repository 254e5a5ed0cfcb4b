import { mediaTypeOf, oauthError, type RawRequest } from '@attestry/contracts';

/** OID4VCI §8.2: JSON; encrypted requests (`application/jwt`) are not announced. */
export const checkContentType = (request: RawRequest): void => {
  const type = mediaTypeOf(request.headers['content-type']);
  if (type === 'application/json') return;
  if (type === 'application/jwt')
    throw oauthError('invalid_encryption_parameters', 'encrypted requests are not supported', {
      check: 'check-content-type',
    });
  throw oauthError('invalid_credential_request', 'the content type must be application/json', {
    check: 'check-content-type',
  });
};
