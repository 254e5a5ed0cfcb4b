import { IsString } from 'class-validator';
import { calledBy, defineOperation } from '../operation.js';
import { Uuid } from '../validators.js';

export class RetrieveCredentialDocumentRequest {
  @Uuid() tenantId: string;
  /** Read by release 0.2.0 only. */
  @Uuid() sessionId: string;
  @Uuid() credentialId: string;
}
export class CredentialDocument {
  /** JSON of the credential, sealed under its own data key, purpose `delivery`. */
  @IsString() sealed: string;
}
/** Called by webhooks for each attempt to deliver a credential. 404 when no document was kept. */
export const retrieveCredentialDocument = defineOperation({
  name: 'issuance.retrieve-credential-document',
  summary: 'Retrieve the sealed document of an issued credential',
  access: calledBy('webhooks'),
  kind: 'query',
  body: RetrieveCredentialDocumentRequest,
  response: CredentialDocument,
});
