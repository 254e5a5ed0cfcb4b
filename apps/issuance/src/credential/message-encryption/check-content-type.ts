import { mediaTypeOf, oauthError, type RawRequest } from '@attestry/contracts';

/** OID4VCI §8.2: JSON, or a JWE (§10). */
export const checkContentType = (request: RawRequest): void => {
  const type = mediaTypeOf(request.headers['content-type']);
  if (type === 'application/json' || type === 'application/jwt') return;
  throw oauthError(
    'invalid_credential_request',
    'the content type must be application/json, or application/jwt for an encrypted request',
    { check: 'check-content-type' },
  );
};
