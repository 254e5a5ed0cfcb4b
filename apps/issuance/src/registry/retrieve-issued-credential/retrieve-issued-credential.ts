import {
  notFound,
  registryOperationOf,
  type ClientContext,
  type PersistedCredential,
  type RegistryOperations,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { issuedCredentialView } from '../../sessions/issued-credential/issued-credential-view.js';
import { issuedCredential, issuedCredentialStream } from '../../sessions/issued-credential/issued-credential.state.js';
import { PersistedCredentials } from '../persisted-credential/persisted-credentials.js';
import { UsersReadModel } from '../../users/user/users.read-model.js';

/** Only credentials that sessions count were issued, and the credential's own stream does not know this (ADR 0070): the list does. */
@Operation(...registryOperationOf('retrieve'))
export class RetrieveIssuedCredential {
  constructor(
    private readonly users: UsersReadModel,
    private readonly streams: Streams,
    private readonly formats: Formats,
    private readonly persisted: PersistedCredentials,
  ) {}

  async execute(
    { params }: RequestOf<RegistryOperations['retrieve']>,
    context: ClientContext,
  ): Promise<PersistedCredential> {
    const tenantId = context.tenant.id;
    const { format } = this.formats.ofCall(context);
    const row = await this.users.findCredential(tenantId, format, params.id);
    const { state } = await this.streams.load(issuedCredential, issuedCredentialStream(tenantId, params.id));
    if (!row || state.status === 'deleted') throw notFound();
    const credential = await this.persisted.load(tenantId, params.id);
    return { ...issuedCredentialView(row), ...(credential && { credential }) };
  }
}
