import {
  registryOperationOf,
  type ClientContext,
  type RegisteredCredential,
  type PageOf,
  type RegistryOperations,
} from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { InvalidCursor } from '@attestry/read-model';
import { listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { issuedCredentialView } from '../../sessions/issued-credential/issued-credential-view.js';
import { UsersReadModel } from '../../users/user/users.read-model.js';

@Operation(...registryOperationOf('list'))
export class ListIssuedCredentials {
  constructor(
    private readonly users: UsersReadModel,
    private readonly formats: Formats,
    private readonly macs: Macs,
  ) {}

  async execute(
    { query }: RequestOf<RegistryOperations['list']>,
    context: ClientContext,
  ): Promise<PageOf<RegisteredCredential>> {
    const { format } = this.formats.ofCall(context);
    const tenantId = context.tenant.id;
    // Credentials that wallets collect have no tag, and there are no others: no list with a tag has a second page.
    if (query.tag !== undefined && query.cursor !== undefined) throw new InvalidCursor();
    if (query.tag !== undefined) return { data: [] };
    await this.users.running.ownWrites();
    let rows = this.users.credentialsOf(tenantId, format);
    if (query.type !== undefined) rows = rows.where('type', '=', query.type);
    const list = [tenantId, 'issued-credentials', format, query.type ?? ''];
    const found = await listPage(rows, query, this.macs, list, {
      contents: ['record'],
      timeColumn: 'issued_at',
    });
    return { ...found, data: found.data.map(issuedCredentialView) };
  }
}
