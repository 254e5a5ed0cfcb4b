import { IsInt, IsString, Length, MaxLength, Min } from 'class-validator';
import { calledBy, defineOperation, publicAccess } from '../operation.js';
import type { Role } from '../roles.js';
import { BoundedJson, Optional, Uuid } from '../validators.js';

/** Grant type and token type of RFC 8693. */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
/** Longest address of a tenant in a token exchange. */
export const MAX_AUDIENCE = 300;

/** Token request of a client (RFC 6749 section 4.4), or token exchange of a person (RFC 8693). */
export class TokenRequest {
  @Optional() @BoundedJson() client_id?: string;
  @Optional() @BoundedJson() client_secret?: string;
  /**
   * Address of the tenant, with or without scheme; required for a token exchange. Default: the address of the management API, for management
   * clients.
   */
  @Optional() @BoundedJson() audience?: string;
  /** `client_credentials`, or at the authorization host `urn:ietf:params:oauth:grant-type:token-exchange`. */
  @Optional() @BoundedJson() grant_type?: string;
  /** Only for a token exchange: access token of a person for the management API. */
  @Optional() @BoundedJson() subject_token?: string;
  /** Only for a token exchange, where it is required: `urn:ietf:params:oauth:token-type:access_token`. */
  @Optional() @BoundedJson() subject_token_type?: string;
  /** Only for a token exchange: `urn:ietf:params:oauth:token-type:access_token`, which is the default. */
  @Optional() @BoundedJson() requested_token_type?: string;
}

export class TokenResponse {
  access_token: string;
  /** Lifetime of the access token in seconds. */
  expires_in: number;
  token_type: 'Bearer';
  /** Only after a token exchange (RFC 8693 section 2.2.1). */
  issued_token_type?: 'urn:ietf:params:oauth:token-type:access_token';
}

export class JwkSet {
  keys: Record<string, unknown>[];
}

export const issueToken = defineOperation({
  name: 'management.issue-token',
  summary: 'Issue an access token to a management client, a tenant client or a member of a tenant',
  description:
    'The client sends its credentials in the body or with the scheme Basic in the `Authorization` header (RFC 6749 section 2.3.1), not both. At the authorization host a member of a tenant exchanges an access token of the management API for one of the tenant API (RFC 8693): as a form, without client credentials. It is valid for 5 minutes, but not longer than the exchanged token; the roles of the member are read at each call.',
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
  secrets: ['client_secret', 'subject_token'],
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

/** A person whose access token the gateway has verified. */
export class IssueMemberTokenRequest {
  @Uuid() userId: string;
  @IsString() @Length(1, MAX_AUDIENCE) audience: string;
  /** Scheme and host of the token endpoint that was called. */
  @IsString() @MaxLength(2000) publicUrl: string;
  /** End of the exchanged token, seconds since the epoch. */
  @IsInt() @Min(0) subjectExpiresAt: number;
  /** Claim `grant_id` of the exchanged token. */
  @Optional() @IsString() @Length(1, 128) grantId?: string;
}

export const issueMemberToken = defineOperation({
  name: 'management.issue-member-token',
  summary: "Issue an access token for a tenant's API to one of its members (RFC 8693)",
  access: calledBy('gateway'),
  kind: 'query',
  body: IssueMemberTokenRequest,
  response: TokenResponse,
});

export class LookUpMemberRequest {
  @Uuid() tenantId: string;
  @Uuid() userId: string;
}

export class MemberAnswer {
  /** Absent if the tenant has ended or the user is not a member. */
  roles?: Role[];
}

export const lookUpMember = defineOperation({
  name: 'management.look-up-member',
  summary: 'Look up the roles of a member of a tenant',
  access: calledBy('gateway'),
  kind: 'query',
  body: LookUpMemberRequest,
  response: MemberAnswer,
});
