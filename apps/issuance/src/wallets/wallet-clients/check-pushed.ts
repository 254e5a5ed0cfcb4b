import { oauthError, type OpenIdConfiguration } from '@attestry/contracts';

/** RFC 9126 §5: a tenant may take authorization requests only as references of pushed ones. */
export const checkPushed = (
  isPushed: boolean,
  { requirePushedAuthorizationRequests }: Pick<OpenIdConfiguration, 'requirePushedAuthorizationRequests'>,
): void => {
  if (requirePushedAuthorizationRequests && !isPushed)
    throw oauthError('invalid_request', 'the authorization request must be pushed to /v1/oauth/par first (RFC 9126)', {
      check: 'check-pushed',
    });
};
