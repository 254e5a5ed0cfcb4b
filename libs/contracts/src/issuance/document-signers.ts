import { IsBoolean } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Optional, Uuid } from '../validators.js';
import { CertificateData, CertificatePem } from './iacas.js';

export class DocumentSignerRequest {
  /** Id of an unmanaged IACA. Signers of managed ones are made automatically. */
  @Uuid() iacaId: string;
}

export class UpdateDocumentSignerRequest {
  /** If an IACA has several active signers, the one that was changed last signs. */
  @IsBoolean({ message: 'must be a boolean' }) active: boolean;

  /** Certificate that the IACA issued for `csrPem` (ISO/IEC 18013-5 Annex B.1.4), PEM. Required until there is one. */
  @Optional() @CertificatePem() certificatePem?: string;
}

export class DocumentSigner {
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
  /** RFC 3339 time of its revocation. */
  revocationDate?: string;
}

export class DocumentSignerParams {
  /** Id of the document signer. */
  @Uuid() id: string;
}

export class RevokedDocumentSigner {
  revoked: boolean;
  /** RFC 3339. */
  revocationDate: string;
  /** Whether the owner of the IACA must sign and upload a CRL with this signer. False for a managed IACA, whose CRL has it. */
  crlDue: boolean;
}

const category = 'mobile-credential-document-signer';
const path = '/v2/credentials/mobile/document-signers';
const since = 'v2.1.0';
const type = 'document-signer';
const object = { type, from: 'params.id' } as const;

export const createDocumentSigner = defineOperation({
  name: 'issuance.create-document-signer',
  since,
  summary: 'Create a document signer of an unmanaged IACA',
  description:
    'The platform keeps its key. It signs once a certificate for `csrPem` was uploaded. Returns 409 if the tenant already has 5.',
  http: { method: 'POST', path, success: 201, maxBodyBytes: 65_536 },
  access: requires('document-signers:create'),
  analytics: {
    prefix: 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_CREATE',
    category,
    object: { type, from: 'event.documentSignerId' },
  },
  body: DocumentSignerRequest,
  example: { iacaId: '7f1c9f0e-9a4c-4a3b-8a52-0c8f4e3f2b61' },
  resource: DocumentSigner,
  response: DocumentSigner,
  errorStatuses: [400, 409],
  idempotent: true,
});

export const listDocumentSigners = defineOperation({
  name: 'issuance.list-document-signers',
  since,
  summary: 'Retrieve the document signers of the tenant',
  description: 'Also those of managed IACAs, until the end of their certificates.',
  http: { method: 'GET', path, success: 200 },
  access: requires('document-signers:read'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_RETRIEVE_LIST', category },
  query: PageQuery,
  response: [DocumentSigner],
  errorStatuses: [400],
});

export const retrieveDocumentSigner = defineOperation({
  name: 'issuance.retrieve-document-signer',
  since,
  summary: 'Retrieve a document signer',
  http: { method: 'GET', path: `${path}/:id`, success: 200 },
  access: requires('document-signers:read'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_RETRIEVE', category, object },
  params: DocumentSignerParams,
  response: DocumentSigner,
  errorStatuses: [400, 404],
});

export const updateDocumentSigner = defineOperation({
  name: 'issuance.update-document-signer',
  since,
  summary: 'Activate or deactivate a document signer of an unmanaged IACA, or upload its certificate',
  http: { method: 'PUT', path: `${path}/:id`, success: 200, maxBodyBytes: 65_536 },
  access: requires('document-signers:update'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_UPDATE', category, object },
  params: DocumentSignerParams,
  body: UpdateDocumentSignerRequest,
  example: { active: false },
  response: DocumentSigner,
  errorStatuses: [400, 404],
});

export const deleteDocumentSigner = defineOperation({
  name: 'issuance.delete-document-signer',
  since,
  summary: 'Delete a document signer of an unmanaged IACA',
  description:
    'Its key is destroyed. Credentials that it signed remain valid until it is revoked by the owner of the IACA.',
  http: { method: 'DELETE', path: `${path}/:id`, success: 204 },
  access: requires('document-signers:delete'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_DELETE', category, object },
  params: DocumentSignerParams,
  errorStatuses: [400, 404],
});

export const revokeDocumentSigner = defineOperation({
  name: 'issuance.revoke-document-signer',
  since,
  summary: 'Revoke a document signer',
  description:
    'It signs nothing more, and verifiers that read the CRL reject what it signed. The CRL of a managed IACA has it at once; for an unmanaged one the owner signs and uploads a CRL. It cannot be undone.',
  http: { method: 'POST', path: `${path}/:id/revoke`, success: 200, body: 'none' },
  access: requires('document-signers:revoke'),
  analytics: { prefix: 'MOBILE_CREDENTIAL_DOCUMENT_SIGNER_REVOKE', category, object },
  params: DocumentSignerParams,
  response: RevokedDocumentSigner,
  errorStatuses: [400, 404],
});
