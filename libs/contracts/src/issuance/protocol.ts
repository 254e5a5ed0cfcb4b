import { defineOperation, holderAccess, publicAccess } from '../operation.js';

/** Protocol endpoints: raw requests, parsed in issuance (decision 23). */

/** Form fields of the token endpoint. OID4VCI §6.1 */
export class HolderTokenRequest {
  grant_type: 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
  'pre-authorized_code': string;
  /** The transaction code, when the offer asks for one. */
  tx_code?: string;
  /** JSON text: an array of `{type: "openid_credential", credential_configuration_id}`. */
  authorization_details?: string;
}

/** OID4VCI §8.2 */
export class CredentialRequest {
  /** Exactly one of this and `credential_identifier`. */
  credential_configuration_id?: string;
  /** Required when the token response returned credential identifiers. */
  credential_identifier?: string;
  /** `jwt`: 1 to 10 key proofs (Appendix F.1). */
  proofs: { jwt: string[] };
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

export const exchangeToken = defineOperation({
  name: 'issuance.exchange-token',
  summary: 'Token endpoint (pre-authorized code grant)',
  http: {
    method: 'POST',
    path: '/v1/oauth/token',
    success: 200,
    body: 'raw',
    accepts: { 'application/x-www-form-urlencoded': HolderTokenRequest },
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
  http: { method: 'POST', path: '/v1/openid/nonce', success: 200, body: 'raw' },
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
