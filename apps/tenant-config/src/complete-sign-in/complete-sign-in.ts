import { Inject } from '@nestjs/common';
import {
  AppError,
  completeSignIn,
  jsonSize,
  namesOfUnusable,
  oauthError,
  withoutInexactNumbers,
  type CompletedSignIn,
  type CompleteSignInRequest,
  type TenantServiceContext,
} from '@attestry/contracts';
import { eventContext, LOGGER, Operation, requestFields, type Logger, type RequestOf } from '@attestry/service-kit';
import * as oidc from 'openid-client';
import { SignInProviders, type SignInProvider } from '../sign-in/sign-in-providers.js';

/** Claims of the protocol, which are not about the person. OpenID Connect Core 1.0 §2 */
const PROTOCOL_CLAIMS = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'nbf',
  'jti',
  'nonce',
  'azp',
  'sid',
  'auth_time',
  'at_hash',
  'c_hash',
  's_hash',
]);
/** OpenID Connect Core 1.0 §2: at most 255 ASCII characters. */
const MAX_SUBJECT = 255;
/** As many levels as the body of a request may have. */
const CLAIM_LIMITS = { values: 20_000, depth: 64 };

/** Exchanges the code for tokens, and validates the ID token: signature, issuer, audience, times, nonce. */
@Operation(completeSignIn)
export class CompleteSignIn {
  constructor(
    private readonly providers: SignInProviders,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async execute({ body }: RequestOf<typeof completeSignIn>, context: TenantServiceContext): Promise<CompletedSignIn> {
    const provider = await this.providers.find(context.tenant.id, body.providerId, eventContext(context));
    const { identitySpaceId } = provider.settings;
    // The code belongs to the issuer that the sign-in began at: no other one may receive it (RFC 9700 §4.4).
    if (identitySpaceId !== body.identitySpaceId) throw providerFailed('was replaced during the sign-in');
    const { token, claims: all } = await this.idToken(provider, body, context);
    const { sub, ...found } = all;
    if (sub.length === 0 || sub.length > MAX_SUBJECT)
      throw providerFailed(`returned a subject that is not 1 to ${MAX_SUBJECT} characters long`);
    const { claims, unusable } = withoutInexactNumbers(
      Object.fromEntries(Object.entries(found).filter(([name]) => !PROTOCOL_CLAIMS.has(name))),
      Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8'),
    );
    return {
      url: provider.settings.url,
      ...(identitySpaceId !== undefined && { identitySpaceId }),
      subjectId: sub,
      claims,
      claimsToPersist: provider.settings.claimsToPersist.filter((name) => !unusable.includes(name)),
      ...(unusable.length > 0 && { unusableClaims: namesOfUnusable(unusable) }),
    };
  }

  private async idToken(
    { client, settings }: SignInProvider,
    body: CompleteSignInRequest,
    context: TenantServiceContext,
  ): Promise<{ token: string; claims: oidc.IDToken }> {
    const url = new URL(body.redirectUrl);
    url.search = body.query;
    try {
      const tokens = await oidc.authorizationCodeGrant(client, url, {
        expectedState: body.state,
        expectedNonce: body.nonce,
        pkceCodeVerifier: body.codeVerifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw providerFailed('returned no ID token');
      if (jsonSize(claims, CLAIM_LIMITS).exceeds) throw providerFailed('returned an ID token that is too large');
      return { token: tokens.id_token!, claims };
    } catch (error) {
      if (error instanceof AppError) throw error;
      this.logger.info(
        { ...requestFields(context), providerId: settings.providerId, error: causesOf(error) },
        'sign-in failed',
      );
      throw asOAuthError(error);
    }
  }
}

const providerFailed = (description: string, cause?: unknown): AppError =>
  oauthError('server_error', `the authentication provider ${description}`, { check: 'complete-sign-in', cause });

/** RFC 6749 §4.1.2.1: faults of the provider, or of its registration of the issuer. With any other error the person was not signed in. */
const FAULTS = ['server_error', 'invalid_request', 'unauthorized_client', 'unsupported_response_type', 'invalid_scope'];

/** The provider's error (OpenID Connect Core 1.0 §3.1.2.6), as far as it concerns the wallet. */
const asOAuthError = (cause: unknown): AppError => {
  if (cause instanceof oidc.AuthorizationResponseError) {
    const { error } = cause;
    if (error === 'temporarily_unavailable')
      return oauthError('temporarily_unavailable', 'the authentication provider is not available', { cause });
    if (FAULTS.includes(error)) return providerFailed(`returned ${error}`, cause);
    return oauthError('access_denied', 'the authentication provider did not sign the user in', {
      check: 'complete-sign-in',
      cause,
    });
  }
  if (cause instanceof oidc.ResponseBodyError) return providerFailed('refused the authorization code', cause);
  // A failed connection, or a time-out.
  if (cause instanceof oidc.ClientError && (cause.code === undefined || cause.code === 'OAUTH_TIMEOUT'))
    return oauthError('temporarily_unavailable', 'the authentication provider cannot be reached', {
      check: 'complete-sign-in',
      cause,
    });
  return providerFailed('returned a response that could not be verified', cause);
};

/** Messages only: other members may contain personal data. */
const causesOf = (error: unknown): string =>
  error instanceof Error
    ? [error.message, ...(error.cause === undefined ? [] : [causesOf(error.cause)])].join(': ')
    : '';
