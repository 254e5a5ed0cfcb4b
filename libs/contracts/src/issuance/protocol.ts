import { ArrayMaxSize, IsArray, IsIn, IsString, MaxLength } from 'class-validator';
import { defineOperation, holderAccess, publicAccess, UNREAD_BODY_BYTES } from '../operation.js';
import { Nested, Optional } from '../validators.js';

/**
 * Protocol endpoints: raw requests, parsed in issuance (ADR 0003), which takes the maxima of these classes and has its own rules and
 * messages beside them.
 */

export const MAX_WALLET_CLIENT_ID = 1024;
export const MAX_REDIRECT_URI = 2048;
/** Also in the metadata, as `batch_credential_issuance.batch_size`. */
export const BATCH_SIZE = 10;
export const MAX_PROOF_LENGTH = 16_384;
const PRE_AUTHORIZED_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

/** Query of the authorization endpoint. RFC 6749 §4.1.1, RFC 7636 §4.3, OID4VCI §5.1. What else stands there is ignored, or passed on to the provider when that is configured. */
export class AuthorizationQuery {
  @IsIn(['code']) response_type: 'code';
  /** Of the wallet's own choosing: wallets are public clients and not registered. */
  @IsString() @MaxLength(MAX_WALLET_CLIENT_ID) client_id: string;
  /** https, http to this machine itself (RFC 8252 section 7.3), or a scheme of the wallet's own. No fragment. */
  @IsString() @MaxLength(MAX_REDIRECT_URI) redirect_uri: string;
  /** Space-separated: `<format>:<type>` of credential configurations. What names none is ignored. */
  @Optional() @IsString() @MaxLength(8192) scope?: string;
  /** JSON text: an array of `{type: "openid_credential", credential_configuration_id}`. */
  @Optional() @IsString() @MaxLength(16_384) authorization_details?: string;
  /** Returned as it came. */
  @Optional() @IsString() @MaxLength(4096) state?: string;
  @IsString() @MaxLength(43) code_challenge: string;
  @IsIn(['S256']) code_challenge_method: 'S256';
  /** From the offer; offers of this platform carry none. */
  @Optional() @IsString() @MaxLength(4096) issuer_state?: string;
  /** The credential issuer identifier, if anything (RFC 8707). */
  @Optional() @IsString() @MaxLength(2048) resource?: string;
}

/** Query of the callback: OpenID Connect Core 1.0 §3.1.2.5 and §3.1.2.6. */
export class AuthenticationQuery {
  @Optional() @IsString() @MaxLength(200) state?: string;
  @Optional() @IsString() @MaxLength(8192) code?: string;
  @Optional() @IsString() @MaxLength(1024) error?: string;
  @Optional() @IsString() @MaxLength(2048) iss?: string;
}

/** Form fields of the token endpoint. RFC 6749 §4.1.3, RFC 7636 §4.5, OID4VCI §6.1 */
export class HolderTokenRequest {
  @IsIn(['authorization_code', PRE_AUTHORIZED_CODE_GRANT])
  grant_type: 'authorization_code' | 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
  /** Of the authorization code grant, as the next three. */
  @Optional() @IsString() @MaxLength(1024) code?: string;
  @Optional() @IsString() @MaxLength(MAX_WALLET_CLIENT_ID) client_id?: string;
  /** As in the authorization request. */
  @Optional() @IsString() @MaxLength(MAX_REDIRECT_URI) redirect_uri?: string;
  @Optional() @IsString() @MaxLength(128) code_verifier?: string;
  /** Of the pre-authorized code grant. */
  @Optional() @IsString() @MaxLength(1024) 'pre-authorized_code'?: string;
  /** The transaction code, when the offer asks for one. */
  @Optional() @IsString() @MaxLength(64) tx_code?: string;
  /** JSON text: an array of `{type: "openid_credential", credential_configuration_id}`. */
  @Optional() @IsString() @MaxLength(16_384) authorization_details?: string;
}

/** Key proofs of a credential request. */
export class CredentialProofs {
  /** 1 to 10 (OID4VCI 1.0 Appendix F.1). */
  @IsArray()
  @ArrayMaxSize(BATCH_SIZE)
  @IsString({ each: true })
  @MaxLength(MAX_PROOF_LENGTH, { each: true })
  jwt: string[];
}

/** OID4VCI §8.2 */
export class CredentialRequest {
  /** Exactly one of this and `credential_identifier`. */
  @Optional() @IsString() @MaxLength(1024) credential_configuration_id?: string;
  /** Required when the token response returned credential identifiers. */
  @Optional() @IsString() @MaxLength(1024) credential_identifier?: string;
  @Nested(CredentialProofs) proofs: CredentialProofs;
}

export class AccessTokenResponse {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  scope?: string;
  authorization_details?: {
    type: 'openid_credential';
    credential_configuration_id: string;
    credential_identifiers: string[];
  }[];
}

export class NonceResponse {
  c_nonce: string;
}

export class CredentialResponse {
  credentials: { credential: string | Record<string, unknown> }[];
}

const category = 'openid';
/** The provider is asked for documents and tokens. */
const SIGN_IN_TIMEOUT_MS = 15_000;

/**
 * 302 to the tenant's OpenID provider. What is wrong with the request is told to the client by redirection, but for a client
 * or an address that cannot be believed: 400. Recorded once the person is back from the provider: who only asks is nobody yet.
 */
export const authorize = defineOperation({
  name: 'issuance.authorize',
  summary: 'Authorization endpoint (OID4VCI section 5)',
  http: {
    method: 'GET',
    path: '/v1/oauth/authorize',
    success: 302,
    body: 'raw',
    acceptsQuery: AuthorizationQuery,
    refusesOnPage: true,
  },
  access: holderAccess,
  kind: 'command',
  analytics: { prefix: 'OPENID_AUTHORIZE', category, recordedBy: 'service' },
  errors: 'oauth',
  timeoutMs: SIGN_IN_TIMEOUT_MS,
  errorStatuses: [400],
});

/** `redirectUrl` of the authentication provider: 302 to the client with a code, or with why there is none. */
export const completeAuthorization = defineOperation({
  name: 'issuance.complete-authorization',
  summary: 'Callback of the authentication provider',
  http: {
    method: 'GET',
    path: '/v1/oauth/authentication/callback',
    success: 302,
    body: 'raw',
    acceptsQuery: AuthenticationQuery,
    refusesOnPage: true,
  },
  access: publicAccess,
  rate: 'wallet',
  kind: 'command',
  errors: 'oauth',
  timeoutMs: SIGN_IN_TIMEOUT_MS,
  errorStatuses: [400],
});

export const exchangeToken = defineOperation({
  name: 'issuance.exchange-token',
  summary: 'Token endpoint (authorization code and pre-authorized code grant)',
  http: {
    method: 'POST',
    path: '/v1/oauth/token',
    success: 200,
    body: 'raw',
    accepts: { 'application/x-www-form-urlencoded': HolderTokenRequest },
    maxBodyBytes: 65_536,
  },
  access: holderAccess,
  analytics: { prefix: 'OPENID_TOKEN', category, recordedBy: 'service' },
  errors: 'oauth',
  response: AccessTokenResponse,
  errorStatuses: [400, 429],
});

export const issueNonce = defineOperation({
  name: 'issuance.issue-nonce',
  summary: 'Nonce endpoint (OID4VCI section 7)',
  http: { method: 'POST', path: '/v1/openid/nonce', success: 200, body: 'raw', maxBodyBytes: UNREAD_BODY_BYTES },
  access: publicAccess,
  rate: 'wallet',
  kind: 'query',
  errors: 'oauth',
  response: NonceResponse,
});

export const issueCredential = defineOperation({
  name: 'issuance.issue-credential',
  summary: 'Credential endpoint (OID4VCI section 8)',
  http: {
    method: 'POST',
    path: '/v1/openid/credential',
    success: 200,
    body: 'raw',
    accepts: { 'application/json': CredentialRequest },
    // Ten proofs of the longest kind, and as much beside them.
    maxBodyBytes: 2 * BATCH_SIZE * MAX_PROOF_LENGTH,
  },
  access: holderAccess,
  analytics: { prefix: 'OPENID_CREDENTIAL', category, recordedBy: 'service' },
  errors: 'oauth',
  response: CredentialResponse,
  errorStatuses: [400, 401, 403, 429],
});

export const retrieveIssuerMetadata = defineOperation({
  name: 'issuance.retrieve-issuer-metadata',
  summary: 'Credential issuer metadata (OID4VCI section 12.2)',
  http: {
    method: 'GET',
    path: '/.well-known/openid-credential-issuer',
    success: 200,
    hosts: ['tenant', 'custom-domain'],
    cacheControl: 'no-cache',
  },
  access: publicAccess,
  errors: 'tenant',
});

export const retrieveAuthorizationServerMetadata = defineOperation({
  name: 'issuance.retrieve-authorization-server-metadata',
  summary: 'Authorization server metadata (RFC 8414)',
  http: { method: 'GET', path: '/.well-known/oauth-authorization-server', success: 200, cacheControl: 'no-cache' },
  access: publicAccess,
  errors: 'tenant',
});

export const retrieveOauthKeys = defineOperation({
  name: 'issuance.retrieve-oauth-keys',
  summary: "Key set of the tenant's authorization server",
  http: { method: 'GET', path: '/v1/oauth/jwks', success: 200, cacheControl: 'public, max-age=300' },
  access: publicAccess,
  errors: 'tenant',
});
