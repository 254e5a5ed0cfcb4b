import { listUsers, type ClientContext, type PageOf, type User } from '@attestry/contracts';
import { isErased, Macs } from '@attestry/keys';
import { listPage, Operation, type RequestOf } from '@attestry/service-kit';
import { UserClaims } from '../user/user-claims.js';
import { UsersReadModel } from '../user/users.read-model.js';

@Operation(listUsers)
export class ListUsers {
  constructor(
    private readonly users: UsersReadModel,
    private readonly claims: UserClaims,
    private readonly macs: Macs,
  ) {}

  async execute({ query }: RequestOf<typeof listUsers>, { tenant }: ClientContext): Promise<PageOf<User>> {
    const tenantId = tenant.id;
    await this.users.running.ownWrites();
    const rows = this.users.running.db.selectFrom('issuance_users').selectAll().where('tenant_id', '=', tenantId);
    const found = await listPage(rows, query, this.macs, [tenantId, 'users'], {
      contents: ['sealed_claims', 'sealed_link'],
    });
    const opened = await Promise.all(
      found.data.map((row) =>
        this.claims.viewOf(tenantId, { id: row.id, sealedClaims: row.sealed_claims, sealedLink: row.sealed_link }),
      ),
    );
    // Keys are destroyed before the row is deleted: such a user is deleted already.
    return { ...found, data: opened.filter((entry): entry is User => !isErased(entry)) };
  }
}
