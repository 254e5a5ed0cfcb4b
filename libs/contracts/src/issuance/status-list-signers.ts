import { defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Uuid } from '../validators.js';
import { DocumentSignerRequest, UpdateDocumentSignerRequest } from './document-signers.js';
import { CertificateData } from './iacas.js';

export class StatusListSigner {
  id: string;
  iacaId: string;
  active: boolean;
  /** Whether it was made automatically, for a managed IACA. */
  isManaged: boolean;
  /** PKCS #10 request to issue a certificate for. Absent for a signer of a managed IACA. */
  csrPem?: string;
  /** Absent until it was uploaded. */
  certificatePem?: string;
  certificateData?: CertificateData;
  /** SHA-256 of the certificate's DER, hex. */
  certificateFingerprint?: string;
}

export class StatusListSignerParams {
  /** Id of the status list signer. */
  @Uuid() id: string;
}

const category = 'mobile-credential-status-list-signer';
const path = '/v2/credentials/mobile/status-list-signers';
const since = 'v2.1.0';
const type = 'status-list-signer';
const object = { type, from: 'params.id' } as const;
const prefix = 'MOBILE_CREDENTIAL_STATUS_LIST_SIGNER';

export const createStatusListSigner = defineOperation({
  name: 'issuance.create-document-signer.status-list',
  operationId: 'createStatusListSigner',
  since,
  summary: 'Create a status list signer of an unmanaged IACA',
  description:
    'The platform keeps its key. It signs status lists of credentials of the IACA once a certificate for `csrPem` was uploaded. Returns 409 if the tenant already has 3.',
  http: { method: 'POST', path, success: 200, maxBodyBytes: 65_536 },
  access: requires('status-list-signers:create'),
  analytics: { prefix: `${prefix}_CREATE`, category, object: { type, from: 'event.documentSignerId' } },
  body: DocumentSignerRequest,
  example: { iacaId: '7f1c9f0e-9a4c-4a3b-8a52-0c8f4e3f2b61' },
  resource: StatusListSigner,
  response: StatusListSigner,
  errorStatuses: [400, 409],
  idempotent: true,
});

export const listStatusListSigners = defineOperation({
  name: 'issuance.list-document-signers.status-list',
  operationId: 'listStatusListSigners',
  since,
  summary: 'Retrieve the status list signers of the tenant',
  description: 'Also those of managed IACAs, until the end of their certificates.',
  http: { method: 'GET', path, success: 200 },
  access: requires('status-list-signers:read'),
  analytics: { prefix: `${prefix}_RETRIEVE_LIST`, category },
  query: PageQuery,
  response: [StatusListSigner],
  errorStatuses: [400],
});

export const retrieveStatusListSigner = defineOperation({
  name: 'issuance.retrieve-document-signer.status-list',
  operationId: 'retrieveStatusListSigner',
  since,
  summary: 'Retrieve a status list signer',
  http: { method: 'GET', path: `${path}/:id`, success: 200 },
  access: requires('status-list-signers:read'),
  analytics: { prefix: `${prefix}_RETRIEVE`, category, object },
  params: StatusListSignerParams,
  response: StatusListSigner,
  errorStatuses: [400, 404],
});

export const updateStatusListSigner = defineOperation({
  name: 'issuance.update-document-signer.status-list',
  operationId: 'updateStatusListSigner',
  since,
  summary: 'Activate or deactivate a status list signer of an unmanaged IACA, or upload its certificate',
  description:
    'The certificate follows the rules of a document signer, but must not have its extended key usage. The lists of the tenant are signed again, by the signer that was changed last, within a minute.',
  http: { method: 'PUT', path: `${path}/:id`, success: 200, maxBodyBytes: 65_536 },
  access: requires('status-list-signers:update'),
  analytics: { prefix: `${prefix}_UPDATE`, category, object },
  params: StatusListSignerParams,
  body: UpdateDocumentSignerRequest,
  example: { active: false },
  response: StatusListSigner,
  errorStatuses: [400, 404],
});

export const deleteStatusListSigner = defineOperation({
  name: 'issuance.delete-document-signer.status-list',
  operationId: 'deleteStatusListSigner',
  since,
  summary: 'Delete a status list signer of an unmanaged IACA',
  description:
    'Its key is destroyed. Tokens that it signed are served until they expire or another signer replaces them.',
  http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
  access: requires('status-list-signers:delete'),
  analytics: { prefix: `${prefix}_DELETE`, category, object },
  params: StatusListSignerParams,
  errorStatuses: [400, 404],
});
