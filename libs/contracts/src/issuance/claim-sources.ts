import { IsIn } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import {
  TOKEN_ENDPOINT_AUTH_METHODS,
  type TokenEndpointAuthMethod,
} from '../tenant-config/authentication-providers.js';
import {
  BoundedJson,
  BoundedText,
  IsRecord,
  Name,
  Nested,
  Keywords,
  Optional,
  ServiceUrl,
  Uuid,
} from '../validators.js';
import { PARAMETER_PATH_PATTERN } from '../patterns.js';

// HTTP services of the tenant that are asked for claims while a credential is issued.

export const CLAIM_SOURCE_METHODS = ['GET', 'POST'] as const;
export type ClaimSourceMethod = (typeof CLAIM_SOURCE_METHODS)[number];
export const CLAIM_SOURCE_AUTHORIZATION_TYPES = ['api-key', 'oauth-client-credentials'] as const;
export type ClaimSourceAuthorizationType = (typeof CLAIM_SOURCE_AUTHORIZATION_TYPES)[number];

/** Source of a request parameter: `mapFrom`, with `defaultValue` as its fallback, or `defaultValue` alone. */
export class ParameterMapping {
  /**
   * Path of the value: as in `claimMappings`, `claims.email` or `authenticationProvider.subjectId`; or `credentialConfiguration.id`,
   * `credentialConfiguration.type`, `credentialConfiguration.format` or `credentialConfiguration.profile`.
   */
  @Optional() @BoundedText(1024) @Keywords({ pattern: PARAMETER_PATH_PATTERN.source }) mapFrom?: string;
  /** Value if `mapFrom` is absent or has no value. */
  defaultValue?: unknown;
}

/** How requests are authenticated. The members beside `type` belong to one type each. */
export class ClaimSourceAuthorization {
  /** `api-key`: `value` in the header `x-api-key`. `oauth-client-credentials`: an access token of `tokenEndpoint` (RFC 6749 section 4.4). */
  @IsIn(CLAIM_SOURCE_AUTHORIZATION_TYPES, { message: `must be one of: ${CLAIM_SOURCE_AUTHORIZATION_TYPES.join(', ')}` })
  type: ClaimSourceAuthorizationType;
  /** The API key, 1 to 1024 printable ASCII characters, no space at either end. Masked in responses; an update that repeats the masked value keeps the key. */
  @Optional() @BoundedText(1024, 1) value?: string;
  /** URL of the token endpoint, as `url`. */
  @Optional() @ServiceUrl(1) tokenEndpoint?: string;
  @Optional() @BoundedText(1024, 1) clientId?: string;
  /** Masked in responses; an update that repeats the masked value keeps the secret. */
  @Optional() @BoundedText(1024, 1) clientSecret?: string;
  /** `scope` of the token request. */
  @Optional() @BoundedText(1024, 1) scope?: string;
  /** `audience` of the token request. */
  @Optional() @BoundedText(2048, 1) audience?: string;
  /** Client authentication at the token endpoint. Default `client_secret_basic`. */
  @Optional()
  @IsIn(TOKEN_ENDPOINT_AUTH_METHODS, { message: `must be one of: ${TOKEN_ENDPOINT_AUTH_METHODS.join(', ')}` })
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod;
}

export class ClaimSourceRequest {
  @Name() name: string;
  /** https with a public host name, without credentials, query and fragment. Redirects are not followed. */
  @ServiceUrl(1) url: string;
  /** `GET` sends the parameters in the query, `POST` as a JSON object. Default `GET`. */
  @Optional()
  @IsIn(CLAIM_SOURCE_METHODS, { message: `must be one of: ${CLAIM_SOURCE_METHODS.join(', ')}` })
  requestMethod?: ClaimSourceMethod;
  /** Parameters of the request, by name; at most 50. One without a value is left out. Default: none. */
  @Optional()
  @IsRecord()
  @BoundedJson({ entries: 50, name: 255, text: 2048, values: 1000 })
  requestParameters?: Record<string, ParameterMapping>;
  /** Default: requests are not authenticated. */
  @Optional() @Nested(ClaimSourceAuthorization) authorization?: ClaimSourceAuthorization;
}

/** A service that returns claims. */
export class ClaimSource {
  id: string;
  name: string;
  url: string;
  requestMethod: ClaimSourceMethod;
  requestParameters: Record<string, ParameterMapping>;
  /** `value` and `clientSecret` are masked except for their last characters. */
  authorization?: ClaimSourceAuthorization;
}

export class ClaimSourceParams {
  /** Id of the claims source. */
  @Uuid() id: string;
}

const since = 'v2.1.0';
const path = '/v1/claim-sources';
const category = 'claim-source';
const prefix = 'CLAIM_SOURCE';
const type = 'claim-source';
const object = { type, from: 'params.id' } as const;
const secrets = ['authorization'];
const maxBodyBytes = 65_536;
const example: ClaimSourceRequest = {
  name: 'Student register',
  url: 'https://register.example.com/claims',
  requestMethod: 'POST',
  requestParameters: { email: { mapFrom: 'claims.email' } },
  authorization: { type: 'api-key', value: 'the key of the issuer' },
};

export const createClaimSource = defineOperation({
  name: 'issuance.create-claim-source',
  since,
  summary: 'Create a claims source',
  description:
    'It is called while a credential is issued whose configuration names it in `claimSourceId`. Returns 409 if the tenant already has 100.',
  http: { method: 'POST', path, success: 201, maxBodyBytes },
  access: requires('claim-sources:create'),
  analytics: { prefix: `${prefix}_CREATE`, category, object: { type, from: 'event.id' } },
  secrets,
  body: ClaimSourceRequest,
  example,
  resource: ClaimSource,
  response: ClaimSource,
  errorStatuses: [400, 409],
  idempotent: true,
});

export const listClaimSources = defineOperation({
  name: 'issuance.list-claim-sources',
  since,
  summary: 'Retrieve the claims sources of the tenant',
  http: { method: 'GET', path, success: 200 },
  access: requires('claim-sources:read'),
  analytics: { prefix: `${prefix}_RETRIEVE_LIST`, category },
  query: PageQuery,
  response: [ClaimSource],
  errorStatuses: [400],
});

export const retrieveClaimSource = defineOperation({
  name: 'issuance.retrieve-claim-source',
  since,
  summary: 'Retrieve a claims source',
  http: { method: 'GET', path: `${path}/:id`, success: 200 },
  access: requires('claim-sources:read'),
  analytics: { prefix: `${prefix}_RETRIEVE`, category, object },
  params: ClaimSourceParams,
  response: ClaimSource,
  errorStatuses: [400, 404],
});

export const updateClaimSource = defineOperation({
  name: 'issuance.update-claim-source',
  since,
  summary: 'Replace a claims source',
  description:
    'The stored key or secret is kept if the request repeats its masked form and neither the origin of `url` nor that of `tokenEndpoint` changes.',
  http: { method: 'PUT', path: `${path}/:id`, success: 200, maxBodyBytes },
  access: requires('claim-sources:update'),
  analytics: { prefix: `${prefix}_UPDATE`, category, object },
  secrets,
  params: ClaimSourceParams,
  body: ClaimSourceRequest,
  example,
  response: ClaimSource,
  errorStatuses: [400, 404],
});

export const deleteClaimSource = defineOperation({
  name: 'issuance.delete-claim-source',
  since,
  summary: 'Delete a claims source',
  description: 'Destroys the stored key or secret. Returns 409 while a credential configuration names it.',
  http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
  access: requires('claim-sources:delete'),
  analytics: { prefix: `${prefix}_DELETE`, category, object },
  params: ClaimSourceParams,
  errorStatuses: [400, 404, 409],
});
