import type { BeginSignInRequest } from '@attestry/contracts';
import type { ProviderSettings } from '../authentication-provider/authentication-provider.events.js';

/** Longer values of a wallet's request are not forwarded (specification notes, Authentication providers). */
const MAX_FORWARDED = 1000;

/**
 * Parameters of an authentication request (OpenID Connect Core 1.0 §3.1.2.1) beside those of the client. Configured parameters take
 * precedence over forwarded ones of a wallet, and neither replaces the platform's own.
 */
export const authenticationParameters = (
  settings: Pick<ProviderSettings, 'scope' | 'staticRequestParameters' | 'forwardedRequestParameters'>,
  request: BeginSignInRequest,
): URLSearchParams => {
  const parameters = new Map<string, string>();
  const requested = new URLSearchParams(request.query);
  for (const name of settings.forwardedRequestParameters) {
    const value = requested.get(name);
    if (value && value.length <= MAX_FORWARDED) parameters.set(name, value);
  }
  for (const [name, value] of Object.entries(settings.staticRequestParameters))
    parameters.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  for (const [name, value] of Object.entries({
    response_type: 'code',
    redirect_uri: request.redirectUrl,
    scope: settings.scope.join(' '),
    state: request.state,
    nonce: request.nonce,
    code_challenge: request.codeChallenge,
    code_challenge_method: 'S256',
  }))
    parameters.set(name, value);
  return new URLSearchParams([...parameters]);
};
