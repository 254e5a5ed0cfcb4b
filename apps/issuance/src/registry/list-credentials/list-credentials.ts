import { listCredentials, type ClientContext, type PageOf, type TenantCredential } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { DEFAULT_LIMIT, listCursors, Operation, type RequestOf } from '@attestry/service-kit';
import { credentialOfRow, UsersReadModel } from '../../users/user/users.read-model.js';
import { selectCredentials } from './select-credentials.js';

@Operation(listCredentials)
export class ListCredentials {
  constructor(
    private readonly users: UsersReadModel,
    private readonly macs: Macs,
  ) {}

  async execute(
    { query }: RequestOf<typeof listCredentials>,
    { tenant }: ClientContext,
  ): Promise<PageOf<TenantCredential>> {
    const { limit = DEFAULT_LIMIT, cursor, ...filters } = query;
    const { userId, credentialConfigurationId, status, format, issuedFrom, issuedTo } = filters;
    const scope = [userId, credentialConfigurationId, status, format, issuedFrom, issuedTo].map((one) => one ?? '');
    const codec = listCursors(this.macs, [tenant.id, 'credentials', ...scope]);
    const after = cursor === undefined ? undefined : codec.decode(cursor);
    const { running } = this.users;
    await running.ownWrites();
    const { rows, last } = await selectCredentials(running.db, { tenantId: tenant.id, filters, limit, after });
    return {
      data: rows.map((row) => ({ ...credentialOfRow(row), userId: row.user_id })),
      ...(last && { nextCursor: codec.encode(last) }),
    };
  }
}
