import { IsString, MaxLength } from 'class-validator';
import { defineOperation, holderAccess, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Nested, Optional, Uuid } from '../validators.js';
import { CredentialResponse, DeferredResponse, DpopHeaders, ResponseEncryptionRequest } from './protocol.js';

/** Characters of a transaction id. */
export const MAX_TRANSACTION_ID = 256;

/** Deferred credential request (OID4VCI 1.0 section 9.1); issuance applies its maxima. */
export class DeferredCredentialRequest {
  /** Value of the response of the credential endpoint. */
  @IsString() @MaxLength(MAX_TRANSACTION_ID) transaction_id: string;
  /** Only in an encrypted request. Without it the response is not encrypted, whatever the credential request had. */
  @Optional() @Nested(ResponseEncryptionRequest) credential_response_encryption?: ResponseEncryptionRequest;
}

/** Credentials that a wallet requested and collects later. */
export class DeferredIssuance {
  /** Unrelated to the transaction id of the wallet. */
  id: string;
  /**
   * `PENDING`: waits for approval. `APPROVED`: the wallet can collect the credentials, as soon as their claims are available. `DENIED`: they will
   * not be issued. `ISSUED`: the wallet has collected them.
   */
  state: 'PENDING' | 'APPROVED' | 'DENIED' | 'ISSUED';
  credentialConfigurationId: string;
  /** Version of the configuration at the time of the request. Credentials are issued with its current one. */
  credentialConfigurationVersion: number;
  /** If the offer has claim sets. */
  credentialIdentifier?: string;
  userId: string;
  sessionId: string;
  /** Id of the offer from which the session began, if it is stored. */
  offerId?: string;
  /** Number of requested credentials, each for a different key. */
  credentials: number;
  createdAt: string;
  /** The wallet can collect the credentials until then. */
  expiresAt: string;
}

export class DeferredIssuanceParams {
  /** Id of the deferred issuance. */
  @Uuid() id: string;
}

const since = 'v2.1.0';
const category = 'openid';
const path = '/v1/openid/deferred';
const object = { type: 'deferred-issuance', from: 'params.id' } as const;

export const issueDeferredCredential = defineOperation({
  name: 'issuance.issue-deferred-credential',
  since,
  summary: 'Issue credentials that were deferred (OID4VCI section 9)',
  description:
    'Takes the transaction id of a 202 of the credential endpoint, with an access token of the same session, sent and encrypted as there, in at most 64 KiB. A token that has expired is accepted for its transaction ids until the deferral ends. Returns 202 with the same transaction id as long as the credentials are not ready, `invalid_transaction_id` after they were issued and `credential_request_denied` if they never will be.',
  http: {
    method: 'POST',
    path: '/v1/openid/deferred-credential',
    success: 200,
    deferred: DeferredResponse,
    body: 'raw',
    accepts: { 'application/json': DeferredCredentialRequest },
    acceptsHeaders: DpopHeaders,
    mayBeEncrypted: true,
    maxBodyBytes: 65_536,
  },
  example: { transaction_id: 'the transaction id of a deferred response' },
  access: holderAccess,
  analytics: { prefix: 'OPENID_DEFERRED', category, recordedBy: 'service' },
  errors: 'oauth',
  response: CredentialResponse,
  errorStatuses: [400, 401, 429],
});

export const listDeferredIssuances = defineOperation({
  name: 'issuance.list-deferred-issuances',
  since,
  summary: 'Retrieve deferred issuances',
  description: 'Oldest first, until they expire. Those of deleted users and offers are not listed.',
  http: { method: 'GET', path, success: 200 },
  access: requires('deferred-issuances:read'),
  analytics: { prefix: 'OPENID_DEFERRED_RETRIEVE_LIST', category },
  query: PageQuery,
  response: [DeferredIssuance] as const,
  errorStatuses: [400],
});

export const approveDeferredIssuance = defineOperation({
  name: 'issuance.approve-deferred-issuance',
  since,
  summary: 'Approve a deferred issuance',
  description:
    'The wallet can then collect the credentials. A repeated call has no further effect. Returns 409 if the issuance was denied, and 404 if it has expired.',
  http: { method: 'POST', path: `${path}/:id/approve`, success: 204, body: 'none' },
  access: requires('deferred-issuances:update'),
  analytics: { prefix: 'OPENID_DEFERRED_APPROVE', category, object },
  params: DeferredIssuanceParams,
  errorStatuses: [400, 404, 409],
});

export const denyDeferredIssuance = defineOperation({
  name: 'issuance.deny-deferred-issuance',
  since,
  summary: 'Deny a deferred issuance',
  description:
    'The wallet then gets `credential_request_denied`, also after an approval. A repeated call has no further effect. Returns 409 if the credentials were issued, and 404 if the issuance has expired.',
  http: { method: 'POST', path: `${path}/:id/deny`, success: 204, body: 'none' },
  access: requires('deferred-issuances:update'),
  analytics: { prefix: 'OPENID_DEFERRED_DENY', category, object },
  params: DeferredIssuanceParams,
  errorStatuses: [400, 404, 409],
});
