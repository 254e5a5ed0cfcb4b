import { ArrayContains, ArrayMaxSize, IsArray, IsIn, IsString, Length, Matches } from 'class-validator';
import { defineOperation, publicAccess, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { readStepUp, requiredClaimsFault } from './sign-in-requirements.js';
import { IsRecord, BoundedJson, BoundedText, Optional, Rule, Unique, Uuid } from '../validators.js';

export const TOKEN_ENDPOINT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;
export type TokenEndpointAuthMethod = (typeof TOKEN_ENDPOINT_AUTH_METHODS)[number];

/** Parameters that the platform itself sends to an authorization endpoint: static and forwarded parameters must not replace them. */
export const CORE_AUTHORIZE_PARAMETERS = [
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'request',
  'request_uri',
] as const;
const isCore = (name: string) => (CORE_AUTHORIZE_PARAMETERS as readonly string[]).includes(name);

const MAX_PARAMETERS = 1000;
/** Exclusive maximum of the characters of a parameter's value, serialized. */
const MAX_PARAMETER_VALUE = 1000;

const Names = (): PropertyDecorator => (target, key) => {
  IsArray({ message: 'must be an array' })(target, key);
  ArrayMaxSize(MAX_PARAMETERS, { message: `must have at most ${MAX_PARAMETERS} entries` })(target, key);
  Unique({ message: 'must not repeat an entry' })(target, key);
  IsString({ each: true, message: 'must contain only strings' })(target, key);
  Length(1, 255, { each: true, message: 'must contain only strings of 1 to 255 characters' })(target, key);
};

const staticParameters = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.length > MAX_PARAMETERS) return `must have at most ${MAX_PARAMETERS} entries`;
  for (const [name, one] of entries) {
    if (isCore(name)) return `must not set ${name}, which the platform sets itself`;
    const text = typeof one === 'string' ? one : JSON.stringify(one);
    if (text.length >= MAX_PARAMETER_VALUE)
      return `must have values of at most ${MAX_PARAMETER_VALUE - 1} characters, unlike ${name}`;
  }
  return readStepUp(value as Record<string, unknown>).fault;
};

const forwardedParameters = (value: unknown): string | undefined => {
  const core = Array.isArray(value) ? value.find((name) => typeof name === 'string' && isCore(name)) : undefined;
  return core === undefined ? undefined : `must not forward ${core as string}, which the platform sets itself`;
};

export class AuthenticationProviderRequest {
  /** Issuer URL of the provider: https with a public host name, without a query, and with a port that the operator allows (default 443). A fragment, and `/.well-known/openid-configuration` at its end, are dropped. */
  @BoundedText(2048) url: string;

  /** Client id of the tenant at the provider. */
  @BoundedText(1024, 1) clientId: string;

  /**
   * Client secret of the tenant at the provider. If an update omits it or repeats the masked value of a response, the stored secret
   * is kept; an update that changes the origin of `url` or of the token endpoint requires the secret itself.
   */
  @Optional() @BoundedText(1024, 1) clientSecret?: string;

  /** Scope values of the authorization request. Default `openid`, `profile` and `email`. */
  @Optional()
  @Names()
  @ArrayContains(['openid'], { message: 'must contain openid' })
  @Matches(/^[\x21\x23-\x5b\x5d-\x7e]+$/, {
    each: true,
    message: 'must contain only scope values (RFC 6749 section 3.3)',
  })
  scope?: string[];

  /**
   * Client authentication at the token endpoint. Default `client_secret_basic`. `private_key_jwt` needs no secret: the provider verifies it by the
   * keys at `/v1/users/authentication-providers/jwks`, algorithm ES256.
   */
  @Optional()
  @IsIn(TOKEN_ENDPOINT_AUTH_METHODS, { message: `must be one of: ${TOKEN_ENDPOINT_AUTH_METHODS.join(', ')}` })
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod;

  /**
   * Parameters of every request to the provider's authorization endpoint, except those that the platform itself sends, such as `state`.
   * Each value has at most 999 characters, as a string or as JSON. What `acr_values`, `max_age` and an essential `acr` in `claims` ask for is
   * required of the ID token: otherwise the sign-in ends with `access_denied`.
   */
  @Optional()
  @IsRecord()
  @BoundedJson({ entries: MAX_PARAMETERS, values: 20_000 })
  @Rule('staticRequestParameters', staticParameters)
  staticRequestParameters?: Record<string, unknown>;

  /** Names of parameters of the wallet's authorization request to forward to the provider, except those that the platform itself sends. */
  @Optional()
  @Names()
  @Rule('forwardedRequestParameters', forwardedParameters)
  forwardedRequestParameters?: string[];

  /** Names of claims of the sign-in (ID token, then UserInfo) to store with the user. They do not cause a request of UserInfo. Default: none. */
  @Optional() @Names() claimsToPersist?: string[];

  /**
   * Claims that a sign-in must have, each with its allowed values, such as `{"acr": ["2"], "email_verified": [true]}`. A claim that is an array
   * needs one of them as an element. `acr`, `amr` and `auth_time` are read from the ID token, other claims from the ID token or, if it lacks
   * them, from UserInfo. `acr` replaces what `acr_values` of `staticRequestParameters` require; with an empty list they require nothing.
   * Default: none.
   */
  @Optional()
  @IsRecord()
  @BoundedJson({ entries: 100, values: 5000, text: 1000, depth: 8 })
  @Rule('requiredClaims', requiredClaimsFault)
  requiredClaims?: Record<string, unknown>;
}

export class AuthenticationProvider {
  id: string;
  /** Callback URL of the tenant, to be registered with the provider as a redirect URI. */
  redirectUrl: string;
  url: string;
  clientId: string;
  /** Masked except for its last characters. Absent if none is configured. */
  clientSecret?: string;
  scope: string[];
  tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  staticRequestParameters: Record<string, unknown>;
  forwardedRequestParameters: string[];
  claimsToPersist: string[];
  requiredClaims: Record<string, unknown>;
}

/** A document of the provider. */
export class ProviderDocumentCheck {
  result: 'succeeded' | 'failed';
  /** Why it failed. */
  reason?: string;
}

/** Answer of the token endpoint to the client's credentials. */
export class ProviderCredentialsCheck {
  /**
   * `refused`: status 401, `invalid_client` or `unauthorized_client`. `notRefused`: another OAuth error, such as `invalid_grant` for the code that
   * cannot exist. `unknown`: any other answer, or none.
   */
  result: 'refused' | 'notRefused' | 'unknown';
  /** HTTP status of the answer. */
  status?: number;
  /** `error` of the answer, as printable ASCII of at most 200 characters. */
  error?: string;
  /** `error_description` of the answer, as printable ASCII of at most 200 characters. */
  errorDescription?: string;
  /** Why the result is unknown. */
  reason?: string;
}

export class AuthenticationProviderCheck {
  /** The present discovery document, checked as when the provider is saved. */
  discovery: ProviderDocumentCheck;
  /** The key set that it names. */
  keys: ProviderDocumentCheck;
  credentials: ProviderCredentialsCheck;
}

export class AuthenticationProviderParams {
  /** Id of the authentication provider. */
  @Uuid() id: string;
}

const category = 'authentication-provider';
const path = '/v1/users/authentication-providers';
const secrets = ['clientSecret'];
/** Leaves time for the request for the discovery document, which may take 5 s. */
const timeoutMs = 10_000;

const EXAMPLE: AuthenticationProviderRequest = {
  url: 'https://login.university.example',
  clientId: 'attestry',
  clientSecret: 'the secret of the client',
};

export class ProviderClientKeySet {
  /** Public JWKs with `kty` EC, `crv` P-256, `use` sig, `alg` ES256, `kid`, `x` and `y`. */
  keys: Record<string, unknown>[];
}

export const retrieveClientKeys = defineOperation({
  name: 'tenant-config.retrieve-client-keys',
  summary: 'Retrieve the keys by which the tenant authenticates at its authentication provider',
  description: 'For `jwks_uri` of the client at the provider, if `tokenEndpointAuthMethod` is `private_key_jwt`.',
  http: { method: 'GET', path: `${path}/jwks`, success: 200, document: true, cacheControl: 'public, max-age=300' },
  access: publicAccess,
  response: ProviderClientKeySet,
});

export const createAuthenticationProvider = defineOperation({
  name: 'tenant-config.create-authentication-provider',
  summary: "Configure the OpenID provider with which the tenant's users sign in",
  description: 'Returns 409 if the tenant already has one.',
  http: { method: 'POST', path, success: 201 },
  access: requires('authentication-providers:create'),
  analytics: {
    prefix: 'USER_AUTHENTICATION_PROVIDER_CREATE',
    category,
    object: { type: 'authentication-provider', from: 'stream' },
  },
  secrets,
  timeoutMs,
  body: AuthenticationProviderRequest,
  example: EXAMPLE,
  resource: AuthenticationProvider,
  response: AuthenticationProvider,
  errorStatuses: [400, 409],
  idempotent: true,
});

export const listAuthenticationProviders = defineOperation({
  name: 'tenant-config.list-authentication-providers',
  summary: 'Retrieve the authentication providers',
  http: { method: 'GET', path, success: 200 },
  access: requires('authentication-providers:read'),
  analytics: { prefix: 'USER_AUTHENTICATION_PROVIDER_RETRIEVE_LIST', category },
  query: PageQuery,
  response: [AuthenticationProvider],
  errorStatuses: [400],
});

export const retrieveAuthenticationProvider = defineOperation({
  name: 'tenant-config.retrieve-authentication-provider',
  summary: 'Retrieve an authentication provider',
  http: { method: 'GET', path: `${path}/:id`, success: 200 },
  access: requires('authentication-providers:read'),
  analytics: {
    prefix: 'USER_AUTHENTICATION_PROVIDER_RETRIEVE',
    category,
    object: { type: 'authentication-provider', from: 'params.id' },
  },
  params: AuthenticationProviderParams,
  response: AuthenticationProvider,
  errorStatuses: [400, 404],
});

export const updateAuthenticationProvider = defineOperation({
  name: 'tenant-config.update-authentication-provider',
  summary: 'Replace an authentication provider',
  http: { method: 'PUT', path: `${path}/:id`, success: 200 },
  access: requires('authentication-providers:update'),
  analytics: {
    prefix: 'USER_AUTHENTICATION_PROVIDER_UPDATE',
    category,
    object: { type: 'authentication-provider', from: 'params.id' },
  },
  secrets,
  timeoutMs,
  params: AuthenticationProviderParams,
  body: AuthenticationProviderRequest,
  example: EXAMPLE,
  response: AuthenticationProvider,
  errorStatuses: [400, 404],
});

export const deleteAuthenticationProvider = defineOperation({
  name: 'tenant-config.delete-authentication-provider',
  summary: 'Delete an authentication provider',
  description: 'Destroys the stored client secret.',
  http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
  access: requires('authentication-providers:delete'),
  analytics: {
    prefix: 'USER_AUTHENTICATION_PROVIDER_DELETE',
    category,
    object: { type: 'authentication-provider', from: 'params.id' },
  },
  params: AuthenticationProviderParams,
  errorStatuses: [400, 404],
});

export const checkAuthenticationProvider = defineOperation({
  name: 'tenant-config.check-authentication-provider',
  summary: 'Check an authentication provider',
  description:
    "Fetches the discovery document and the key set, and sends the client's credentials to the token endpoint with a code that cannot exist, if its origin is the one that was saved. Changes nothing. At most 10 a minute of one provider, and 60 of a tenant to one origin.",
  http: { method: 'POST', path: `${path}/:id/check`, success: 200, body: 'none' },
  access: requires('authentication-providers:update'),
  analytics: {
    prefix: 'USER_AUTHENTICATION_PROVIDER_CHECK',
    category,
    object: { type: 'authentication-provider', from: 'params.id' },
  },
  timeoutMs: 15_000,
  params: AuthenticationProviderParams,
  response: AuthenticationProviderCheck,
  errorStatuses: [400, 404],
});
