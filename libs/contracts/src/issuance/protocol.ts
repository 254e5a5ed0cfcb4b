import { ArrayMaxSize, IsArray, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { defineOperation, holderAccess, publicAccess, UNREAD_BODY_BYTES } from '../operation.js';
import { Nested, Optional } from '../validators.js';

/**
 * Protocol endpoints: raw requests, which issuance parses (ADR 0003). It applies the maxima of these classes, with rules and
 * messages of its own.
 */

export const MAX_WALLET_CLIENT_ID = 1024;
export const MAX_REDIRECT_URI = 2048;
/** Published in the metadata as `batch_credential_issuance.batch_size`. */
export const BATCH_SIZE = 10;
export const MAX_PROOF_LENGTH = 16_384;
/**
 * Bytes of the plaintext of an encrypted request. {@link BATCH_SIZE} proofs of {@link MAX_PROOF_LENGTH} characters are 163,840; the rest is for the
 * other members.
 */
export const MAX_PLAINTEXT_BYTES = 262_144;
/** Characters of an encrypted request, a compact JWE: {@link MAX_PLAINTEXT_BYTES} in base64url are 349,526, and the rest is for its other parts. */
export const MAX_JWE_LENGTH = 350_000;
const PRE_AUTHORIZED_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

/** Prefix of the reference that a pushed authorization request gets (RFC 9126 section 2.2). */
export const REQUEST_URI_PREFIX = 'urn:ietf:params:oauth:request_uri:';

export class DpopHeaders {
  /** Proof of possession of a key (RFC 9449 section 4), compact JWS. */
  @Optional() @IsString() @MaxLength(MAX_PROOF_LENGTH) DPoP?: string;
}

/** Headers with which a wallet authenticates itself and proves its key. */
export class ClientHeaders extends DpopHeaders {
  /** Client attestation of the wallet's provider (draft-ietf-oauth-attestation-based-client-auth), compact JWS. */
  @Optional() @IsString() @MaxLength(MAX_PROOF_LENGTH) 'OAuth-Client-Attestation'?: string;
  /** Proof of possession of the attested key, compact JWS. Without it the DPoP proof counts, where the wallet uses the combined mode. */
  @Optional() @IsString() @MaxLength(MAX_PROOF_LENGTH) 'OAuth-Client-Attestation-PoP'?: string;
}

/** Parameters of an authorization request that may be omitted, and `client_id`, which never may. Others are ignored, or forwarded to the provider if so configured. */
class AuthorizationParameters {
  /** `clientId` of a registered wallet; any value for one that is not registered, where the tenant allows that. */
  @IsString() @MaxLength(MAX_WALLET_CLIENT_ID) client_id: string;
  /** Space-separated `<format>:<type>` of credential configurations. Unknown values are ignored. */
  @Optional() @IsString() @MaxLength(8192) scope?: string;
  /** JSON array of 1 to 20 objects `{type: "openid_credential", credential_configuration_id}`. */
  @Optional() @IsString() @MaxLength(16_384) authorization_details?: string;
  /** Returned to the wallet unchanged. */
  @Optional() @IsString() @MaxLength(4096) state?: string;
  /** Thumbprint (RFC 7638) of the DPoP key that the token request must prove (RFC 9449 section 10). */
  @Optional() @IsString() @MaxLength(43) dpop_jkt?: string;
  /** Value from the offer, if it has one: names the offer whose claim sets and user are bound to the request. */
  @Optional() @IsString() @MaxLength(4096) issuer_state?: string;
  /** Credential issuer identifier (RFC 8707); no other value is accepted. */
  @Optional() @IsString() @MaxLength(2048) resource?: string;
  /** Languages of the consent page, best first, separated by spaces (OpenID Connect Core 1.0 section 3.1.2.1). */
  @Optional() @IsString() @MaxLength(1024) ui_locales?: string;
}

/** Form of the consent page. */
export class ConsentForm {
  /** Identifier of the request. */
  @IsString() @MaxLength(36) request: string;
  /** One-time token of the form. */
  @IsString() @MaxLength(43) token: string;
  @IsIn(['approve', 'refuse']) decision: 'approve' | 'refuse';
  /** The box of the page, which an approval needs. */
  @Optional() @IsIn(['yes']) confirmed?: 'yes';
  /** Language of the page. */
  @Optional() @IsString() @MaxLength(35) ui_locales?: string;
}

/** Form of a pushed authorization request. RFC 6749 §4.1.1, RFC 7636 §4.3, OID4VCI §5.1 */
export class PushedAuthorizationRequest extends AuthorizationParameters {
  @IsIn(['code']) response_type: 'code';
  /** One of the registered `redirectUris`, with any port for a loopback host (RFC 8252 section 7.3). https URI for a wallet that is not registered. */
  @IsString() @MaxLength(MAX_REDIRECT_URI) redirect_uri: string;
  /** PKCE code challenge (RFC 7636). */
  @IsString() @MaxLength(43) code_challenge: string;
  @IsIn(['S256']) code_challenge_method: 'S256';
}

/** Query of the authorization endpoint: an authorization request, or `client_id` and `request_uri`. */
export class AuthorizationQuery extends AuthorizationParameters {
  /** Reference of a pushed authorization request (RFC 9126). With it, `client_id` is the only other parameter that is read. */
  @Optional() @IsString() @MaxLength(512) request_uri?: string;
  /** Required without `request_uri`. */
  @Optional() @IsIn(['code']) response_type?: 'code';
  /** One of the registered `redirectUris`, with any port for a loopback host (RFC 8252 section 7.3). https URI for a wallet that is not registered. Required without `request_uri`. */
  @Optional() @IsString() @MaxLength(MAX_REDIRECT_URI) redirect_uri?: string;
  /** PKCE code challenge (RFC 7636). Required without `request_uri`. */
  @Optional() @IsString() @MaxLength(43) code_challenge?: string;
  /** Required without `request_uri`. */
  @Optional() @IsIn(['S256']) code_challenge_method?: 'S256';
}

export class PushedAuthorizationResponse {
  /** Value of `request_uri` for the authorization endpoint. */
  request_uri: string;
  /** Lifetime of the reference in seconds. */
  expires_in: number;
}

/** Query of the callback: OpenID Connect Core 1.0 §3.1.2.5 and §3.1.2.6. */
export class AuthenticationQuery {
  @Optional() @IsString() @MaxLength(200) state?: string;
  @Optional() @IsString() @MaxLength(8192) code?: string;
  @Optional() @IsString() @MaxLength(1024) error?: string;
  @Optional() @IsString() @MaxLength(2048) iss?: string;
}

/** Query of the redirect target of the interaction hook. */
export class InteractionQuery {
  /** JWS of the hook, HS256. */
  @Optional() @IsString() @MaxLength(8192) session_token?: string;
}

/** Form parameters of the token endpoint (RFC 6749 sections 4.1.3 and 6, RFC 7636 section 4.5, OID4VCI section 6.1). */
export class HolderTokenRequest {
  @IsIn(['authorization_code', PRE_AUTHORIZED_CODE_GRANT, 'refresh_token'])
  grant_type: 'authorization_code' | 'urn:ietf:params:oauth:grant-type:pre-authorized_code' | 'refresh_token';
  /** Authorization code. Required for the grant `authorization_code`. */
  @Optional() @IsString() @MaxLength(1024) code?: string;
  /** Value of the authorization request. Required for the grants `authorization_code` and `refresh_token`, optional for the pre-authorized code grant. */
  @Optional() @IsString() @MaxLength(MAX_WALLET_CLIENT_ID) client_id?: string;
  /** Value of the authorization request. Required for the grant `authorization_code`. */
  @Optional() @IsString() @MaxLength(MAX_REDIRECT_URI) redirect_uri?: string;
  /** PKCE code verifier (RFC 7636). Required for the grant `authorization_code`. */
  @Optional() @IsString() @MaxLength(128) code_verifier?: string;
  /** Code from the offer. Required for the pre-authorized code grant. */
  @Optional() @IsString() @MaxLength(1024) 'pre-authorized_code'?: string;
  /** Transaction code. Required if the offer has one. */
  @Optional() @IsString() @MaxLength(64) tx_code?: string;
  /** Required for the grant `refresh_token`. */
  @Optional() @IsString() @MaxLength(1024) refresh_token?: string;
  /** Only for the grant `refresh_token`: values of the scope that was granted (RFC 6749 section 6). */
  @Optional() @IsString() @MaxLength(8192) scope?: string;
  /** JSON array of `{type: "openid_credential", credential_configuration_id}`. */
  @Optional() @IsString() @MaxLength(16_384) authorization_details?: string;
  /** The credential issuer identifier (RFC 8707): of the credential offer, the tenant's host or its verified custom domain. */
  @Optional() @IsString() @MaxLength(2048) resource?: string;
}

/** Form parameters of the revocation endpoint (RFC 7009 section 2.1). */
export class WalletRevocationRequest {
  /** Access token or refresh token. */
  @IsString() @MaxLength(16_384) token: string;
  /** Ignored: the kind of the token is recognized. */
  @Optional() @IsString() @MaxLength(256) token_type_hint?: string;
  /** Client that the token was issued to. Required for a token from an authorization code. */
  @Optional() @IsString() @MaxLength(MAX_WALLET_CLIENT_ID) client_id?: string;
}

/** Key proofs of a credential request: exactly one of these members. */
export class CredentialProofs {
  /** 1 to 10 key proofs of type JWT (OID4VCI 1.0 Appendix F.1), each for a different key. */
  @Optional()
  @IsArray()
  @ArrayMaxSize(BATCH_SIZE)
  @IsString({ each: true })
  @MaxLength(MAX_PROOF_LENGTH, { each: true })
  jwt?: string[];
  /** One key attestation (OID4VCI 1.0 Appendix F.3) of at most 10 keys. Only for a configuration with `keyAttestation`. */
  @Optional()
  @IsArray()
  @ArrayMaxSize(1)
  @IsString({ each: true })
  @MaxLength(MAX_PROOF_LENGTH, { each: true })
  attestation?: string[];
}

/** Public key of the wallet. */
export class ResponseEncryptionKey {
  @IsIn(['EC']) kty: 'EC';
  @IsIn(['P-256']) crv: 'P-256';
  @IsString() @MaxLength(43) x: string;
  @IsString() @MaxLength(43) y: string;
  @IsIn(['ECDH-ES']) alg: 'ECDH-ES';
  /** Copied into the header of the response. */
  @Optional() @IsString() @MaxLength(512) kid?: string;
}

/** Encryption of the response (OID4VCI 1.0 section 8.2). */
export class ResponseEncryptionRequest {
  @Nested(ResponseEncryptionKey) jwk: ResponseEncryptionKey;
  @IsIn(['A128GCM', 'A256GCM']) enc: 'A128GCM' | 'A256GCM';
  /** Compresses the response before encryption. */
  @Optional() @IsIn(['DEF']) zip?: 'DEF';
}

/** Credential request (OID4VCI 1.0 section 8.2). */
export class CredentialRequest {
  /** Id of the credential configuration. Exactly one of this member and `credential_identifier` is required. */
  @Optional() @IsString() @MaxLength(1024) credential_configuration_id?: string;
  /** Credential identifier from the token response. Required if it returned any. */
  @Optional() @IsString() @MaxLength(1024) credential_identifier?: string;
  /** The single `proof` of earlier drafts, with `proof_type` `jwt`, counts as `proofs.jwt` with one entry. */
  @Nested(CredentialProofs) proofs: CredentialProofs;
  /** Only in an encrypted request. The response is then a JWE (`application/jwt`) to this key. */
  @Optional() @Nested(ResponseEncryptionRequest) credential_response_encryption?: ResponseEncryptionRequest;
}

export class AccessTokenResponse {
  access_token: string;
  /** `DPoP` if the request had a DPoP proof: the token is bound to the key of the proof. */
  token_type: 'Bearer' | 'DPoP';
  /** Lifetime of the access token in seconds. */
  expires_in: number;
  /** For the grant `authorization_code` of a client that sent a DPoP proof or a client attestation. It is not replaced when it is used. */
  refresh_token?: string;
  scope?: string;
  authorization_details?: GrantedAuthorization[];
}

/** Empty object: RFC 7009 section 2.2 defines no members. */
export class RevokedWalletToken {}

export class AttestationChallengeResponse {
  attestation_challenge: string;
}

export class NonceResponse {
  /** Nonce for the key proofs of a credential request. */
  c_nonce: string;
}

/** Granted authorization details (OID4VCI 1.0 section 6.2). */
export class GrantedAuthorization {
  type: 'openid_credential';
  credential_configuration_id: string;
  credential_identifiers: string[];
}

/** A credential in a response to a wallet. */
export class ReceivedCredential {
  /** The credential in its format: a JSON object for `ldp_vc`, otherwise a string. */
  credential: unknown;
}

export class CredentialResponse {
  credentials: ReceivedCredential[];
  /** For the notification endpoint. */
  notification_id: string;
}

/** Response (202) if the credentials are issued later (OID4VCI section 8.3). */
export class DeferredResponse {
  /** For the deferred credential endpoint; a bearer value. */
  transaction_id: string;
  /** Seconds to wait before the next request. */
  interval: number;
}

const category = 'openid';
/** Covers requests to the provider for its metadata and for tokens. */
const SIGN_IN_TIMEOUT_MS = 15_000;

export const authorize = defineOperation({
  name: 'issuance.authorize',
  summary: 'Start the authorization code flow (OID4VCI section 5)',
  description:
    "Redirects to the tenant's OpenID provider. Errors are returned to the wallet by redirection. A client, `redirect_uri` or `request_uri` that is not allowed returns a page with status 400. For a wallet that is not registered it returns a page (200) on which the user consents first, and errors before the consent are a page with status 400. Only requests of registered wallets are listed in the events of the tenant.",
  http: {
    method: 'GET',
    path: '/v1/oauth/authorize',
    success: 302,
    body: 'raw',
    acceptsQuery: AuthorizationQuery,
    mayShowPage: true,
    refusesOnPage: true,
  },
  access: holderAccess,
  kind: 'command',
  analytics: { prefix: 'OPENID_AUTHORIZE', category, recordedBy: 'service' },
  errors: 'oauth',
  timeoutMs: SIGN_IN_TIMEOUT_MS,
  errorStatuses: [400],
});

export const pushAuthorization = defineOperation({
  name: 'issuance.push-authorization',
  since: 'v2.1.0',
  summary: 'Push an authorization request (RFC 9126)',
  description:
    'Takes the parameters of the authorization endpoint and returns a `request_uri` for it. The reference is valid for 60 seconds; until the sign-in has finished it can be opened again. With a header `DPoP` the code is bound to the key of the proof. Only requests of registered wallets are listed in the events of the tenant.',
  http: {
    method: 'POST',
    path: '/v1/oauth/par',
    success: 201,
    body: 'raw',
    accepts: { 'application/x-www-form-urlencoded': PushedAuthorizationRequest },
    acceptsHeaders: ClientHeaders,
    maxBodyBytes: 65_536,
  },
  example: {
    response_type: 'code',
    client_id: 'wallet',
    redirect_uri: 'https://wallet.example/back',
    authorization_details:
      '[{"type":"openid_credential","credential_configuration_id":"7f1c9f0e-9a4c-4a3b-8a52-0c8f4e3f2b61"}]',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  },
  access: holderAccess,
  rate: 'push',
  analytics: { prefix: 'OPENID_PAR', category, recordedBy: 'service' },
  errors: 'oauth',
  response: PushedAuthorizationResponse,
  errorStatuses: [400, 401, 429],
});

// A refusal is not recorded: the person is not known yet (ADR 0039).
export const submitConsent = defineOperation({
  name: 'issuance.submit-consent',
  since: 'v2.1.0',
  summary: 'Approve or refuse an authorization request',
  description:
    "Form of the consent page that the authorization endpoint shows for a wallet that the issuer does not know. It is accepted once, from the browser that got the page. After an approval the response is a page that continues to the tenant's OpenID provider; after a refusal nothing is redirected.",
  http: {
    method: 'POST',
    path: '/v1/oauth/authorize/consent',
    success: 200,
    body: 'raw',
    accepts: { 'application/x-www-form-urlencoded': ConsentForm },
    maxBodyBytes: 4096,
    mediaType: 'text/html',
    refusesOnPage: true,
  },
  example: {
    request: '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11',
    token: 'the token of the form',
    decision: 'approve',
    confirmed: 'yes',
  },
  access: publicAccess,
  rate: 'wallet',
  kind: 'command',
  errors: 'oauth',
  timeoutMs: SIGN_IN_TIMEOUT_MS,
  errorStatuses: [400],
});

export const completeAuthorization = defineOperation({
  name: 'issuance.complete-authorization',
  summary: 'Complete the sign-in with the authentication provider',
  description:
    'Callback for the provider (`redirectUrl` of the authentication provider). Redirects to the wallet with an authorization code or an error.',
  http: {
    method: 'GET',
    path: '/v1/oauth/authentication/callback',
    success: 302,
    body: 'raw',
    acceptsQuery: AuthenticationQuery,
    refusesOnPage: true,
  },
  access: holderAccess,
  kind: 'command',
  analytics: { prefix: 'OPENID_AUTHENTICATION_CALLBACK', category, recordedBy: 'service', effects: 'outside' },
  errors: 'oauth',
  timeoutMs: SIGN_IN_TIMEOUT_MS,
  errorStatuses: [400],
});

export const completeInteraction = defineOperation({
  name: 'issuance.complete-interaction',
  since: 'v2.1.0',
  summary: 'Complete the visit of the interaction hook',
  description:
    'Callback for the interaction hook (`redirectUrl` of the token that it received). Redirects to the wallet with an authorization code or an error.',
  http: {
    method: 'GET',
    path: '/v1/oauth/interaction/callback',
    success: 302,
    body: 'raw',
    acceptsQuery: InteractionQuery,
    refusesOnPage: true,
  },
  access: holderAccess,
  kind: 'command',
  analytics: { prefix: 'OPENID_INTERACTION_CALLBACK', category, recordedBy: 'service', effects: 'outside' },
  errors: 'oauth',
  errorStatuses: [400],
});

export const exchangeToken = defineOperation({
  name: 'issuance.exchange-token',
  summary: 'Exchange a code or a refresh token for an access token (OID4VCI section 6)',
  description:
    'With a header `DPoP` (RFC 9449) the access token is bound to the key of the proof; the response has a header `DPoP-Nonce`. The error is `invalid_dpop_proof` if the proof is missing although required, invalid or used, and `use_dpop_nonce` if it needs a current nonce. A refresh token is used with the attested key of the client, or, of a client without one, with the same DPoP key, and ends when the wallet revokes it, when the person is deleted, or when the wallet is disabled or deleted.',
  http: {
    method: 'POST',
    path: '/v1/oauth/token',
    success: 200,
    body: 'raw',
    accepts: { 'application/x-www-form-urlencoded': HolderTokenRequest },
    acceptsHeaders: ClientHeaders,
    maxBodyBytes: 65_536,
  },
  example: {
    grant_type: 'urn:ietf:params:oauth:grant-type:pre-authorized_code',
    'pre-authorized_code': 'the code of the offer',
  },
  access: holderAccess,
  analytics: { prefix: 'OPENID_TOKEN', category, recordedBy: 'service' },
  errors: 'oauth',
  response: AccessTokenResponse,
  errorStatuses: [400, 401, 429],
});

export const revokeWalletToken = defineOperation({
  name: 'issuance.revoke-wallet-token',
  since: 'v2.1.0',
  summary: 'Revoke an access token or a refresh token of a wallet (RFC 7009)',
  description:
    'Ends all tokens of the same authorization. The response is also 200 if the token is unknown, already revoked, or expired without deferred credentials. `unsupported_token_type`: the value is a code.',
  http: {
    method: 'POST',
    path: '/v1/oauth/revoke',
    success: 200,
    body: 'raw',
    accepts: { 'application/x-www-form-urlencoded': WalletRevocationRequest },
    acceptsHeaders: ClientHeaders,
    maxBodyBytes: 65_536,
  },
  example: { token: 'the refresh token', token_type_hint: 'refresh_token', client_id: 'wallet' },
  access: holderAccess,
  analytics: { prefix: 'OPENID_REVOKE', category, recordedBy: 'service' },
  errors: 'oauth',
  response: RevokedWalletToken,
  errorStatuses: [400, 401, 429],
});

export const issueAttestationChallenge = defineOperation({
  name: 'issuance.issue-attestation-challenge',
  since: 'v2.1.0',
  summary: 'Issue a challenge for client attestations (OAuth 2.0 Attestation-Based Client Authentication)',
  description:
    'For the member `challenge` of a client attestation PoP, or, where the DPoP proof takes its place, for the member `nonce` of that proof. Wallets need not use one.',
  http: { method: 'POST', path: '/v1/oauth/challenge', success: 200, body: 'raw', maxBodyBytes: UNREAD_BODY_BYTES },
  access: publicAccess,
  rate: 'wallet',
  kind: 'query',
  errors: 'oauth',
  response: AttestationChallengeResponse,
});

export const issueNonce = defineOperation({
  name: 'issuance.issue-nonce',
  summary: 'Issue a nonce for key proofs (OID4VCI section 7)',
  description: 'The header `DPoP-Nonce` has a nonce for DPoP proofs.',
  http: { method: 'POST', path: '/v1/openid/nonce', success: 200, body: 'raw', maxBodyBytes: UNREAD_BODY_BYTES },
  access: publicAccess,
  rate: 'wallet',
  kind: 'query',
  errors: 'oauth',
  response: NonceResponse,
});

export const issueCredential = defineOperation({
  name: 'issuance.issue-credential',
  summary: 'Issue credentials (OID4VCI section 8)',
  description:
    'An access token that is bound to a key is sent with the scheme `DPoP` and a header `DPoP` with a proof of that key (RFC 9449 section 7), any other token with the scheme `Bearer`. The request may be encrypted (section 10): the body is then a compact JWE of this object with `Content-Type: application/jwt`, of at most 350,000 characters and 256 KiB inflated, for the key in `credential_request_encryption` of the issuer metadata. Errors are never encrypted. Returns 202 if the credentials are issued later: if the configuration has `approval: manual`, or their claims are not available yet.',
  http: {
    method: 'POST',
    path: '/v1/openid/credential',
    success: 200,
    deferred: DeferredResponse,
    body: 'raw',
    accepts: { 'application/json': CredentialRequest },
    acceptsHeaders: DpopHeaders,
    mayBeEncrypted: true,
    // The longest JWE. A longer one, up to 384 KiB, is refused as one (`invalid_encryption_parameters`).
    maxBodyBytes: 393_216,
  },
  example: {
    credential_configuration_id: '7f1c9f0e-9a4c-4a3b-8a52-0c8f4e3f2b61',
    proofs: { jwt: ['a.key.proof'] },
  },
  access: holderAccess,
  analytics: { prefix: 'OPENID_CREDENTIAL', category, recordedBy: 'service' },
  errors: 'oauth',
  response: CredentialResponse,
  errorStatuses: [400, 401, 403, 429],
});

export const retrieveIssuerMetadata = defineOperation({
  name: 'issuance.retrieve-issuer-metadata',
  summary: 'Retrieve the credential issuer metadata (OID4VCI section 12.2)',
  description:
    'With `Accept-Language` each `display` has only the entry of the best language (RFC 4647 lookup), and `Content-Language` names these languages; a `display` without such an entry has all of them. With `Accept: application/jwt` the response is signed (section 12.2.3).',
  http: {
    method: 'GET',
    path: '/.well-known/openid-credential-issuer',
    success: 200,
    hosts: ['tenant', 'custom-domain'],
    body: 'raw',
    maxBodyBytes: UNREAD_BODY_BYTES,
    document: true,
    cacheControl: 'no-cache',
  },
  access: publicAccess,
  publicUrl: true,
});

export const retrieveAuthorizationServerMetadata = defineOperation({
  name: 'issuance.retrieve-authorization-server-metadata',
  summary: 'Retrieve the authorization server metadata (RFC 8414)',
  http: {
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    success: 200,
    document: true,
    cacheControl: 'no-cache',
  },
  access: publicAccess,
});

export const retrieveOauthKeys = defineOperation({
  name: 'issuance.retrieve-oauth-keys',
  summary: "Retrieve the key set of the tenant's authorization server",
  http: { method: 'GET', path: '/v1/oauth/jwks', success: 200, document: true, cacheControl: 'public, max-age=300' },
  access: publicAccess,
});

export const retrieveJwtVcIssuer = defineOperation({
  name: 'issuance.retrieve-jwt-vc-issuer',
  since: 'v2.1.0',
  summary: 'Retrieve the keys of issuer signers (SD-JWT VC, JWT VC Issuer Metadata)',
  description:
    'Keys whose certificates are valid, found by the `kid` of a credential. 404 before the first credential.',
  http: {
    method: 'GET',
    path: '/.well-known/jwt-vc-issuer',
    afterDeletion: true,
    success: 200,
    hosts: ['tenant', 'custom-domain'],
    document: true,
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  publicUrl: true,
  errorStatuses: [404],
});

export class IssuerCa {
  /** PEM. */
  certificates: string[];
}

export const retrieveIssuerCa = defineOperation({
  name: 'issuance.retrieve-issuer-ca',
  since: 'v2.1.0',
  summary: 'Retrieve the certificates of the CA of issuer signers',
  description:
    'Trust anchors of the certificates in the header `x5c` of credentials, newest first. A CA that is replaced remains listed until its end. 404 before the first.',
  http: {
    method: 'GET',
    path: '/v1/openid/issuer-ca',
    afterDeletion: true,
    success: 200,
    document: true,
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  response: IssuerCa,
  errorStatuses: [404],
});

export class TypeMetadataParams {
  /** `type` of the credential configuration. */
  @IsString() @MaxLength(1024) type: string;
  /** Positive integer, counted from 1. */
  @IsString() @Matches(/^[1-9]\d{0,8}$/, { message: 'must be a positive integer' }) @MaxLength(9) version: string;
}

export const retrieveTypeMetadata = defineOperation({
  name: 'issuance.retrieve-type-metadata',
  since: 'v2.1.0',
  summary: 'Retrieve the metadata of a version of a credential type (SD-JWT VC, Type Metadata)',
  description:
    'The address is the `vct` of credentials. A version never changes, and it remains available without its configuration.',
  http: {
    method: 'GET',
    path: '/v1/openid/types/:type/:version',
    afterDeletion: true,
    success: 200,
    document: true,
    cacheControl: 'public, max-age=31536000, immutable',
  },
  access: publicAccess,
  params: TypeMetadataParams,
  errorStatuses: [400, 404],
});
