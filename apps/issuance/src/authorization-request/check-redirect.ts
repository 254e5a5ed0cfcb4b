import { oauthError } from '@attestry/contracts';
import { decideRedirect, type RedirectPolicy } from './redirect-policy.js';

/** @throws AppError 400 */
export const checkRedirect = (redirectUri: string, policy: RedirectPolicy): void => {
  const decision = decideRedirect(redirectUri, policy);
  if (decision === 'unusable')
    throw refused(
      'redirect_uri must be an https URL, an http URL of a loopback host, or a URL with a private-use scheme of the wallet, without a fragment',
    );
  if (decision === 'unlisted') throw refused('redirect_uri must be one of the redirect URIs that this issuer allows');
};

const refused = (description: string) => oauthError('invalid_request', description, { check: 'check-redirect' });
