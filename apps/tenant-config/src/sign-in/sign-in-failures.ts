import { oauthError, unavailable, type AppError } from '@attestry/contracts';
import { AnswerTooLarge, DocumentInvalid, DocumentRefused, MAX_PROVIDER_BYTES } from '@attestry/service-kit';
import { errors } from 'jose';
import * as oidc from 'openid-client';
import { causeOf, ClientKeyFailed, ProviderRefused, registeredCode } from './provider-errors.js';

const CHECK = 'sign-in';

/** Fields of a log line; the description only where the client is refused, as any other may be about a person. */
export const loggedFailure = (error: unknown): { error: string; description?: string } => {
  const refused = causeOf(error, ProviderRefused);
  return {
    error: causesOf(error),
    ...(refused?.isOfClient && refused.description !== undefined && { description: refused.description }),
  };
};

/** @param recorded in `metadata` of the record; causes are in a log line of their own, without the stack of the library */
export const providerFailed = (description: string, recorded?: Record<string, unknown>): AppError =>
  oauthError('server_error', `the authentication provider ${description}`, {
    check: CHECK,
    ...(recorded && { recorded }),
  });

/** RFC 6749 §4.1.2.1: faults of the provider, or of its registration of the issuer. With any other error the person was not signed in. */
const FAULTS = ['server_error', 'invalid_request', 'unauthorized_client', 'unsupported_response_type', 'invalid_scope'];

/**
 * The provider's error (OpenID Connect Core 1.0 §3.1.2.6), as far as it concerns the wallet.
 * @param request to the token endpoint, or to that of pushed requests, as a refusal names it
 */
export const asOAuthError = (error: unknown, request = 'token request'): AppError => {
  if (error instanceof oidc.AuthorizationResponseError) {
    const code = registeredCode(error.error);
    const recorded = code === undefined ? {} : { providerError: { code } };
    if (code === 'temporarily_unavailable')
      return oauthError(code, 'the authentication provider is not available', { check: CHECK, recorded });
    if (code !== undefined && FAULTS.includes(code)) return providerFailed(`returned ${code}`, recorded);
    return oauthError('access_denied', 'the authentication provider did not sign the user in', {
      check: CHECK,
      recorded,
    });
  }
  const ownKey = causeOf(error, ClientKeyFailed);
  if (ownKey) return unavailable('The authentication provider cannot be used', ownKey);
  const refused = causeOf(error, ProviderRefused);
  if (refused) return refusedSignIn(refused, request);
  if (causeOf(error, AnswerTooLarge))
    return providerFailed(`returned a response of more than ${MAX_PROVIDER_BYTES} bytes`);
  if (error instanceof DocumentRefused) return refusedKeys(error);
  if (isUnreachable(error))
    return oauthError('temporarily_unavailable', 'the authentication provider cannot be reached', { check: CHECK });
  return providerFailed('returned a response that could not be verified');
};

/** A failed connection, or a time-out: at the token endpoint, or, without an error of the library, of the keys. */
const isUnreachable = (error: unknown): boolean => {
  if (error instanceof oidc.ClientError) return error.code === undefined || error.code === 'OAUTH_TIMEOUT';
  return !(error instanceof errors.JOSEError || error instanceof DocumentInvalid || error instanceof TypeError);
};

/** A proxy returns the same statuses while the provider restarts. */
const isTemporary = (status: number): boolean => status === 429 || status >= 500;

/** RFC 6749 §5.2 */
const refusedSignIn = (refused: ProviderRefused, request: string): AppError => {
  const { status, code } = refused;
  const recorded = { providerError: { ...(code !== undefined && { code }), status } };
  if (isTemporary(status))
    return oauthError('temporarily_unavailable', `the authentication provider answered with status ${status}`, {
      check: CHECK,
      recorded,
    });
  if (refused.isOfClient) return providerFailed("refused the client's credentials", recorded);
  if (code === 'invalid_grant') return providerFailed('refused the authorization code', recorded);
  return providerFailed(`refused the ${request} with ${code ?? `status ${status}`}`, recorded);
};

const refusedKeys = ({ status }: DocumentRefused): AppError => {
  const recorded = { providerError: { status } };
  const description = `answered the request for its keys with status ${status}`;
  return isTemporary(status)
    ? oauthError('temporarily_unavailable', `the authentication provider ${description}`, {
        check: CHECK,
        recorded,
      })
    : providerFailed(description, recorded);
};

/** Messages only: other members may contain personal data, and the message about a malformed text quotes it. */
const causesOf = (error: unknown): string => {
  const messages: string[] = [];
  for (let one = error; one instanceof Error; one = one.cause)
    messages.push(one.name === 'SyntaxError' ? 'malformed text' : one.message);
  if (error instanceof oidc.AuthorizationResponseError) messages.push(registeredCode(error.error) ?? 'another code');
  return messages.map((message) => message.replace(/[:\s]+$/, '')).join(': ');
};
