import { notFound, retrieveUser, type ClientContext, type User } from '@attestry/contracts';
import { isErased } from '@attestry/keys';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { KnownUsers } from '../known-users/known-users.js';
import { UserClaims } from '../user/user-claims.js';
import { activeUser } from '../user/user.decisions.js';

@Operation(retrieveUser)
export class RetrieveUser {
  constructor(
    private readonly known: KnownUsers,
    private readonly claims: UserClaims,
  ) {}

  async execute({ params }: RequestOf<typeof retrieveUser>, { tenant }: ClientContext): Promise<User> {
    const tenantId = tenant.id;
    const { state } = await this.known.load(tenantId, params.id);
    const shown = await this.claims.viewOf(tenantId, activeUser(state));
    if (isErased(shown)) throw notFound();
    return shown;
  }
}
