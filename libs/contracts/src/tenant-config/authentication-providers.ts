import { ArrayContains, ArrayMaxSize, IsArray, IsIn, IsString, Length, Matches, MaxLength } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { IsRecord, BoundedJson, Optional, Rule, Unique, Uuid } from '../validators.js';

export const TOKEN_ENDPOINT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post'] as const;
export type TokenEndpointAuthMethod = (typeof TOKEN_ENDPOINT_AUTH_METHODS)[number];

/** What the platform itself says to an authorization endpoint: neither fixed nor forwarded parameters may replace it. */
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
/** A parameter's value has fewer characters when it is written as text. */
const MAX_PARAMETER_VALUE = 1000;

const Names = (): PropertyDecorator => (target, key) => {
  IsArray({ message: 'must be an array' })(target, key);
  ArrayMaxSize(MAX_PARAMETERS, { message: `must have at most ${MAX_PARAMETERS} entries` })(target, key);
  Unique({ message: 'must not repeat an entry' })(target, key);
  IsString({ each: true, message: 'must be strings' })(target, key);
  Length(1, 255, { each: true, message: 'must have 1 to 255 characters each' })(target, key);
};

const staticParameters = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.length > MAX_PARAMETERS) return `must have at most ${MAX_PARAMETERS} entries`;
  for (const [name, one] of entries) {
    if (isCore(name)) return `must not set ${name}`;
    const text = typeof one === 'string' ? one : JSON.stringify(one);
    if (text.length >= MAX_PARAMETER_VALUE) return `must have values of less than ${MAX_PARAMETER_VALUE} characters`;
  }
  return undefined;
};

const forwardedParameters = (value: unknown): string | undefined => {
  const core = Array.isArray(value) ? value.find((name) => typeof name === 'string' && isCore(name)) : undefined;
  return core === undefined ? undefined : `must not forward ${core as string}`;
};

export class AuthenticationProviderRequest {
  /** Base address, the issuer: https, public host name, no query; port and fragment are dropped. Checked by the service. */
  @IsString({ message: 'must be a string' })
  @MaxLength(2048, { message: 'must have at most 2048 characters' })
  url: string;

  @IsString({ message: 'must be a string' })
  @Length(1, 1024, { message: 'must have 1 to 1024 characters' })
  clientId: string;

  /**
   * On update absent, or masked as in answers, it keeps what is stored. Required in clear when `url` or its token endpoint has
   * another origin than before (ADR 0050).
   */
  @Optional()
  @IsString({ message: 'must be a string' })
  @Length(1, 1024, { message: 'must have 1 to 1024 characters' })
  clientSecret?: string;

  /** Default `openid`, `profile`, `email`; must contain `openid`. */
  @Optional()
  @Names()
  @ArrayContains(['openid'], { message: 'must contain openid' })
  @Matches(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { each: true, message: 'must be scope values (RFC 6749 section 3.3)' })
  scope?: string[];

  /** Default `client_secret_basic`. */
  @Optional()
  @IsIn(TOKEN_ENDPOINT_AUTH_METHODS, { message: `must be one of: ${TOKEN_ENDPOINT_AUTH_METHODS.join(', ')}` })
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod;

  /** Always sent to the provider's authorization endpoint. */
  @Optional()
  @IsRecord()
  @BoundedJson({ entries: MAX_PARAMETERS, values: 20_000 })
  @Rule('staticRequestParameters', staticParameters)
  staticRequestParameters?: Record<string, unknown>;

  /** Names of parameters of a request that are passed on to the provider. */
  @Optional()
  @Names()
  @Rule('forwardedRequestParameters', forwardedParameters)
  forwardedRequestParameters?: string[];

  /** Names of claims of the ID token that outlive the session. Default none. */
  @Optional() @Names() claimsToPersist?: string[];
}

export class AuthenticationProvider {
  id: string;
  /** Callback of the tenant, which the provider must allow. */
  redirectUrl: string;
  url: string;
  clientId: string;
  /** Masked: only its last characters are shown. Absent when there is none. */
  clientSecret?: string;
  scope: string[];
  tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  staticRequestParameters: Record<string, unknown>;
  forwardedRequestParameters: string[];
  claimsToPersist: string[];
}

export class AuthenticationProviderParams {
  @Uuid() id: string;
}

const errors = 'tenant' as const;
const category = 'authentication-provider';
const path = '/v1/users/authentication-providers';
const secrets = ['clientSecret'];
/** The discovery document has 5 s of its own. */
const timeoutMs = 10_000;

/** 409 when the tenant has one already. */
export const createAuthenticationProvider = defineOperation({
  name: 'tenant-config.create-authentication-provider',
  summary: "Configure the OpenID provider that signs the tenant's users in",
  http: { method: 'POST', path, success: 201 },
  access: requires('authentication-providers:create'),
  analytics: { prefix: 'USER_AUTHENTICATION_PROVIDER_CREATE', category },
  errors,
  secrets,
  timeoutMs,
  body: AuthenticationProviderRequest,
  response: AuthenticationProvider,
  errorStatuses: [400, 401, 403, 409],
  idempotent: true,
});

export const listAuthenticationProviders = defineOperation({
  name: 'tenant-config.list-authentication-providers',
  summary: 'Retrieve authentication providers',
  http: { method: 'GET', path, success: 200 },
  access: requires('authentication-providers:read'),
  analytics: { prefix: 'USER_AUTHENTICATION_PROVIDER_RETRIEVE_LIST', category },
  errors,
  query: PageQuery,
  response: [AuthenticationProvider],
  errorStatuses: [400, 401, 403],
});

export const retrieveAuthenticationProvider = defineOperation({
  name: 'tenant-config.retrieve-authentication-provider',
  summary: 'Retrieve an authentication provider',
  http: { method: 'GET', path: `${path}/:id`, success: 200 },
  access: requires('authentication-providers:read'),
  analytics: { prefix: 'USER_AUTHENTICATION_PROVIDER_RETRIEVE', category },
  errors,
  params: AuthenticationProviderParams,
  response: AuthenticationProvider,
  errorStatuses: [400, 401, 403, 404],
});

export const updateAuthenticationProvider = defineOperation({
  name: 'tenant-config.update-authentication-provider',
  summary: 'Replace an authentication provider',
  http: { method: 'PUT', path: `${path}/:id`, success: 200 },
  access: requires('authentication-providers:update'),
  analytics: { prefix: 'USER_AUTHENTICATION_PROVIDER_UPDATE', category },
  errors,
  secrets,
  timeoutMs,
  params: AuthenticationProviderParams,
  body: AuthenticationProviderRequest,
  response: AuthenticationProvider,
  errorStatuses: [400, 401, 403, 404],
});

export const deleteAuthenticationProvider = defineOperation({
  name: 'tenant-config.delete-authentication-provider',
  summary: 'Delete an authentication provider; its secret is destroyed',
  http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
  access: requires('authentication-providers:delete'),
  analytics: { prefix: 'USER_AUTHENTICATION_PROVIDER_DELETE', category },
  errors,
  params: AuthenticationProviderParams,
  errorStatuses: [400, 401, 403, 404],
});
