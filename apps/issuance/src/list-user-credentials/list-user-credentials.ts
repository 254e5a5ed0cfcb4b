import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { listUserCredentials, OperationContext, PageOf, UserCredential } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
import { listPage, tenantOf, type RequestOf } from '@attestry/service-kit';
import { activeUser } from '../user/user.decisions.js';
import { user, userStream } from '../user/user.state.js';
import { UsersReadModel } from '../user/users.read-model.js';

export class ListUserCredentials {
  constructor(
    readonly request: RequestOf<typeof listUserCredentials>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(ListUserCredentials)
export class ListUserCredentialsHandler implements IQueryHandler<ListUserCredentials> {
  constructor(
    private readonly streams: Streams,
    private readonly users: UsersReadModel,
    private readonly vault: KeyVault,
  ) {}

  async execute({ request: { params, query }, context }: ListUserCredentials): Promise<PageOf<UserCredential>> {
    const tenantId = tenantOf(context).id;
    const { state } = await this.streams.load(user, userStream(tenantId, params.userId));
    const { id } = activeUser(state);
    const rows = this.users.running.db
      .selectFrom('issuance_credentials')
      .select(['id', 'issued_at', 'record'])
      .where('tenant_id', '=', tenantId)
      .where('user_id', '=', id);
    const found = await listPage(rows, query, this.vault, [tenantId, 'user-credentials', id], {
      timeColumn: 'issued_at',
      key: (row) => ({ time: row.issued_at, id: row.id }),
    });
    return { ...found, data: found.data.map(({ record }) => JSON.parse(record) as UserCredential) };
  }
}
