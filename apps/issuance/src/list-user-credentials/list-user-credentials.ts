import { listUserCredentials, type ClientContext, type PageOf, type UserCredential } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { activeUser } from '../user/user.decisions.js';
import { user, userStream } from '../user/user.state.js';
import { UsersReadModel } from '../user/users.read-model.js';

@Operation(listUserCredentials)
export class ListUserCredentials {
  constructor(
    private readonly streams: Streams,
    private readonly users: UsersReadModel,
    private readonly macs: Macs,
  ) {}

  async execute(
    { params, query }: RequestOf<typeof listUserCredentials>,
    { tenant }: ClientContext,
  ): Promise<PageOf<UserCredential>> {
    const tenantId = tenant.id;
    const { state } = await this.streams.load(user, userStream(tenantId, params.userId));
    const { id } = activeUser(state);
    const rows = this.users.running.db
      .selectFrom('issuance_credentials')
      .select(['id', 'issued_at', 'record'])
      .where('tenant_id', '=', tenantId)
      .where('user_id', '=', id);
    const found = await listPage(rows, query, this.macs, [tenantId, 'user-credentials', id], {
      timeColumn: 'issued_at',
      key: (row) => ({ time: row.issued_at, id: row.id }),
    });
    return { ...found, data: found.data.map(({ record }) => JSON.parse(record) as UserCredential) };
  }
}
