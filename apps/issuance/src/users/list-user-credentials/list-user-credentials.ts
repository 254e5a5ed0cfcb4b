import { listUserCredentials, type ClientContext, type PageOf, type UserCredential } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { KnownUsers } from '../known-users/known-users.js';
import { activeUser } from '../user/user.decisions.js';
import { credentialOfRow, UsersReadModel } from '../user/users.read-model.js';

@Operation(listUserCredentials)
export class ListUserCredentials {
  constructor(
    private readonly known: KnownUsers,
    private readonly users: UsersReadModel,
    private readonly macs: Macs,
  ) {}

  async execute(
    { params, query }: RequestOf<typeof listUserCredentials>,
    { tenant }: ClientContext,
  ): Promise<PageOf<UserCredential>> {
    const tenantId = tenant.id;
    const { state } = await this.known.load(tenantId, params.userId);
    const { id } = activeUser(state);
    await this.users.running.ownWrites();
    const rows = this.users.running.db
      .selectFrom('issuance_credentials')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('user_id', '=', id);
    const found = await listPage(rows, query, this.macs, [tenantId, 'user-credentials', id], {
      contents: ['record'],
      timeColumn: 'issued_at',
    });
    return { ...found, data: found.data.map(credentialOfRow) };
  }
}
