import { Inject } from '@nestjs/common';
import {
  AppError,
  completeSignIn,
  jsonSize,
  namesOfUnusable,
  oauthError,
  usableClaims,
  type CompletedSignIn,
  type CompleteSignInRequest,
  type TenantServiceContext,
  type UsableClaims,
  type UserInfoOutcome,
} from '@attestry/contracts';
import {
  CLOCK,
  eventContext,
  LOGGER,
  Operation,
  PROVIDER_SIGNATURES,
  requestFields,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { compactVerify } from 'jose';
import * as oidc from 'openid-client';
import type { Clock } from '@attestry/event-store';
import { asOAuthError, loggedFailure, providerFailed } from '../sign-in/sign-in-failures.js';
import { SignInProviders, type SignInProvider } from '../sign-in/sign-in-providers.js';
import { isAuthenticationClaim, requirementsOf, type Requirement } from '../sign-in/sign-in-requirements.js';
import { UserInfo } from '../sign-in/user-info.js';

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
/** The body of a request may have as many levels. */
const CLAIM_LIMITS = { values: 20_000, depth: 64 };

/** Limit of the claims of an ID token, as JSON: they are stored with the session. */
const MAX_CLAIMS_BYTES = 262_144;

interface Person {
  /** `sub` of the ID token. */
  subject: string;
  /** Without the claims of the protocol. */
  claims: UsableClaims;
  /** All claims; those that cannot be used are null. */
  idToken: Record<string, unknown>;
  accessToken: string;
}

/** Result of the request to UserInfo. */
interface FoundUserInfo {
  outcome?: UserInfoOutcome;
  claims?: UsableClaims;
  isTemporary?: boolean;
}

/**
 * Exchanges the code for tokens, and validates the ID token: signature, issuer, audience, times, nonce, and what the provider's settings
 * require (ADR 0112). Claims that mappings or requirements need and the ID token lacks are requested from the UserInfo endpoint (ADR 0103).
 */
@Operation(completeSignIn)
export class CompleteSignIn {
  constructor(
    private readonly providers: SignInProviders,
    private readonly userInfo: UserInfo,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ body }: RequestOf<typeof completeSignIn>, context: TenantServiceContext): Promise<CompletedSignIn> {
    const provider = await this.providers.find(context.tenant.id, body.providerId, eventContext(context));
    const { identitySpaceId } = provider.settings;
    // The code belongs to the issuer that the sign-in began at: no other one may receive it (RFC 9700 §4.4).
    if (identitySpaceId !== body.identitySpaceId) throw providerFailed('was replaced during the sign-in');
    const person = await this.person(provider, body, context);
    const requirements = requirementsOf(provider.settings, body.begunAt);
    const userInfo = await this.checked(provider, person, requirements, body.mappedClaims, context);
    const { claims, unusable } = userInfo.claims ? merged(person.claims, userInfo.claims) : person.claims;
    return {
      url: provider.settings.url,
      ...(identitySpaceId !== undefined && { identitySpaceId }),
      subjectId: person.subject,
      claims,
      claimsToPersist: provider.settings.claimsToPersist.filter((name) => !unusable.includes(name)),
      ...(unusable.length > 0 && { unusableClaims: namesOfUnusable(unusable) }),
      ...(userInfo.outcome && { userInfo: userInfo.outcome }),
    };
  }

  private async person(
    provider: SignInProvider,
    body: CompleteSignInRequest,
    context: TenantServiceContext,
  ): Promise<Person> {
    const { token, accessToken, claims } = await this.idToken(provider, body, context);
    const { sub: subject } = claims;
    if (subject.length === 0 || subject.length > MAX_SUBJECT)
      throw providerFailed(`returned a subject that is not 1 to ${MAX_SUBJECT} characters long`);
    const text = Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8');
    const all = usableClaims(claims, text);
    return { subject, claims: aboutThePerson(all), idToken: all.claims, accessToken };
  }

  /**
   * Claims that UserInfo adds, once every requirement is met.
   * @throws `access_denied` for the first that is not; `temporarily_unavailable` where UserInfo may have its claim later
   */
  private async checked(
    provider: SignInProvider,
    person: Person,
    requirements: readonly Requirement[],
    mappedClaims: string[] | undefined,
    context: TenantServiceContext,
  ): Promise<FoundUserInfo> {
    const { claims, idToken } = person;
    const isOfUserInfo = ({ claim }: Requirement) => !isOfIdToken(claim) && !hasOwnValue(claims, claim);
    for (const one of requirements) if (!isOfUserInfo(one) && !one.isMet(idToken[one.claim])) throw notMet(one);
    const open = requirements.filter(isOfUserInfo);
    const names = [...(mappedClaims ?? []), ...open.map(({ claim }) => claim)];
    const userInfo = mappedClaims || open.length > 0 ? await this.userInfoOf(provider, person, names, context) : {};
    for (const one of open) if (!one.isMet(userInfo.claims?.claims[one.claim])) throw notMet(one, userInfo);
    return userInfo;
  }

  private async userInfoOf(
    provider: SignInProvider,
    { subject, claims, accessToken }: Person,
    names: readonly string[],
    context: TenantServiceContext,
  ): Promise<FoundUserInfo> {
    const isComplete = names.every((name) => PROTOCOL_CLAIMS.has(name) || hasOwnValue(claims, name));
    if (isComplete) return { outcome: { requested: false } };
    const { deadline } = context;
    const found = await this.userInfo.request(context.tenant.id, provider, { accessToken, subject, deadline });
    if (!('failure' in found))
      return { outcome: { requested: true }, claims: aboutThePerson(usableClaims(found.claims, found.text)) };
    const { failure, isTemporary } = found;
    this.logger.info(
      { ...requestFields(context), providerId: provider.settings.providerId, failure },
      'UserInfo not available',
    );
    return { outcome: { requested: true, failure }, isTemporary };
  }

  private async idToken(
    { client, keys, settings }: SignInProvider,
    body: CompleteSignInRequest,
    context: TenantServiceContext,
  ): Promise<{ token: string; accessToken: string; claims: oidc.IDToken }> {
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
      if (jsonSize(claims, CLAIM_LIMITS).exceeds)
        throw providerFailed(
          `returned an ID token of more than ${CLAIM_LIMITS.values} values or ${CLAIM_LIMITS.depth} levels`,
        );
      if (Buffer.byteLength(JSON.stringify(claims)) > MAX_CLAIMS_BYTES)
        throw providerFailed(`returned an ID token with claims of more than ${MAX_CLAIMS_BYTES} bytes`);
      const token = tokens.id_token!;
      // Not only the connection: the signature too.
      await keys.verify(this.clock.now().getTime(), context.deadline, (set) =>
        compactVerify(token, set, { algorithms: PROVIDER_SIGNATURES }),
      );
      return { token, accessToken: tokens.access_token, claims };
    } catch (error) {
      if (error instanceof AppError) throw error;
      this.logger.info(
        { ...requestFields(context), providerId: settings.providerId, ...loggedFailure(error) },
        'sign-in failed',
      );
      throw asOAuthError(error);
    }
  }
}

/** UserInfo cannot have it, or does not count. */
const isOfIdToken = (name: string): boolean => PROTOCOL_CLAIMS.has(name) || isAuthenticationClaim(name);

const aboutThePerson = ({ claims, unusable }: UsableClaims): UsableClaims => ({
  claims: Object.fromEntries(Object.entries(claims).filter(([name]) => !PROTOCOL_CLAIMS.has(name))),
  unusable: unusable.filter((name) => !PROTOCOL_CLAIMS.has(name)),
});

const notMet = ({ name }: Requirement, { outcome, isTemporary }: FoundUserInfo = {}): AppError => {
  const { failure } = outcome ?? {};
  const recorded = { requirement: name, ...(failure !== undefined && { userInfoFailure: failure }) };
  const options = { check: 'sign-in-requirements', recorded };
  return isTemporary
    ? oauthError('temporarily_unavailable', 'UserInfo of the authentication provider is not available', options)
    : oauthError('access_denied', 'the sign-in does not meet the requirements of the issuer', options);
};

/** Null is no value (OpenID Connect Core 1.0 §5.3.2), unless it stands for one that cannot be used. */
const hasOwnValue = ({ claims, unusable }: UsableClaims, name: string): boolean =>
  (Object.hasOwn(claims, name) && claims[name] !== null) || unusable.includes(name);

/** Claims of the ID token, and what UserInfo adds to them. */
const merged = (idToken: UsableClaims, userInfo: UsableClaims): UsableClaims => {
  const isAdded = (name: string) => !hasOwnValue(idToken, name);
  const added = Object.entries(userInfo.claims).filter(([name]) => isAdded(name));
  return {
    claims: { ...idToken.claims, ...Object.fromEntries(added) },
    unusable: [...idToken.unusable, ...userInfo.unusable.filter(isAdded)],
  };
};
