import { IsString, Length } from 'class-validator';
import { calledBy, defineOperation, publicAccess } from '../operation.js';
import { BoundedJson, Optional } from '../validators.js';

/** Token request of a client (RFC 6749 section 4.4). */
export class TokenRequest {
  @Optional() @BoundedJson() client_id?: string;
  @Optional() @BoundedJson() client_secret?: string;
  /** Address of the tenant, with or without scheme. Default: the address of the management API, for management clients. */
  @Optional() @BoundedJson() audience?: string;
  /** Must be `client_credentials`. */
  @Optional() @BoundedJson() grant_type?: string;
}

export class TokenResponse {
  access_token: string;
  /** Lifetime of the access token in seconds. */
  expires_in: number;
  token_type: 'Bearer';
}

export class JwkSet {
  keys: Record<string, unknown>[];
}

export const issueToken = defineOperation({
  name: 'management.issue-token',
  summary: 'Issue an access token to a management client or a tenant client',
  description:
    'The client sends its credentials in the body or with the scheme Basic in the `Authorization` header (RFC 6749 section 2.3.1), not both.',
  http: {
    method: 'POST',
    path: '/oauth/token',
    success: 200,
    hosts: ['auth', 'management'],
    body: 'json-or-form',
    maxBodyBytes: 16_384,
  },
  access: publicAccess,
  publicUrl: true,
  rate: 'client-token',
  errors: 'oauth',
  body: TokenRequest,
  example: {
    client_id: 'kq3Zb8XnW5mVt1Yc7RfL2sHd9JpA4uGe',
    client_secret: 'the secret of the client',
    audience: 'https://university.example',
    grant_type: 'client_credentials',
  },
  response: TokenResponse,
  secrets: ['client_secret'],
  errorStatuses: [400, 401, 429],
});

/** Form parameters of a revocation request (RFC 7009). */
export class RevokeTokenRequest {
  /** Access token to revoke. */
  @Optional() @BoundedJson() token?: string;
  /** Ignored, because there is only one type of token. */
  @Optional() @BoundedJson() token_type_hint?: string;
  @Optional() @BoundedJson() client_id?: string;
  @Optional() @BoundedJson() client_secret?: string;
}

/** Empty object: RFC 7009 section 2.2 defines no members. */
export class RevokedToken {}

export const revokeToken = defineOperation({
  name: 'management.revoke-token',
  summary: 'Revoke an access token of the client that makes the call (RFC 7009)',
  description: 'The response is also 200 if the token is unknown, expired or issued to another client.',
  http: { method: 'POST', path: '/oauth/revoke', success: 200, hosts: ['auth'], body: 'form', maxBodyBytes: 16_384 },
  access: publicAccess,
  publicUrl: true,
  rate: 'client-token',
  errors: 'oauth',
  body: RevokeTokenRequest,
  example: {
    token: 'an.access.token',
    client_id: 'kq3Zb8XnW5mVt1Yc7RfL2sHd9JpA4uGe',
    client_secret: 'the secret of the client',
  },
  response: RevokedToken,
  secrets: ['client_secret', 'token'],
  errorStatuses: [400, 401, 413, 415, 429],
});

export const retrieveTokenKeys = defineOperation({
  name: 'management.retrieve-token-keys',
  summary: 'Retrieve the key set that verifies access tokens of clients',
  http: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    success: 200,
    hosts: ['auth'],
    document: true,
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  response: JwkSet,
});

export class LookUpTokenRequest {
  /** `jti` of a token whose signature is verified. */
  @IsString() @Length(1, 128) tokenId: string;
}

export class TokenAnswer {
  isRevoked: boolean;
}

export const lookUpToken = defineOperation({
  name: 'management.look-up-token',
  summary: 'Check whether an access token of a client is revoked',
  access: calledBy('gateway'),
  kind: 'query',
  body: LookUpTokenRequest,
  response: TokenAnswer,
});
