import { IsIn } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { Optional, Time, Uuid } from '../validators.js';
import { StatusName, type CredentialStatus } from './credential-status.js';
import { PROFILES, type CredentialFormat } from './formats.js';
import { UserCredential } from './users.js';

const FORMATS = Object.keys(PROFILES) as CredentialFormat[];

export class ListCredentialsQuery extends PageQuery {
  /** Only credentials of this user. */
  @Optional() @Uuid() userId?: string;
  /** Only credentials of this configuration, also after its deletion. */
  @Optional() @Uuid() credentialConfigurationId?: string;
  /** Only credentials with this status. Credentials without status are in no such list. */
  @Optional() @StatusName() status?: CredentialStatus;
  /** Only credentials of this format. */
  @Optional() @IsIn(FORMATS, { message: `must be one of: ${FORMATS.join(', ')}` }) format?: CredentialFormat;
  /** Start of the period of issuance, inclusive. A date alone is its first moment in UTC. */
  @Optional() @Time() issuedFrom?: string;
  /** End of the period of issuance, inclusive. A date alone is its first moment in UTC. */
  @Optional() @Time() issuedTo?: string;
}

/** Metadata of an issued credential and the user it was issued to. */
export class TenantCredential extends UserCredential {
  userId: string;
}

export const listCredentials = defineOperation({
  name: 'issuance.list-credentials',
  since: 'v2.1.0',
  summary: 'Retrieve the metadata of the issued credentials, oldest first',
  description: 'Filters are combined with AND. Credentials of deleted users are not listed.',
  http: { method: 'GET', path: '/v2/credentials', success: 200 },
  access: requires('credentials:read'),
  analytics: { prefix: 'CREDENTIAL_RETRIEVE_LIST', category: 'credential' },
  query: ListCredentialsQuery,
  response: [TenantCredential],
  errorStatuses: [400],
});
