import { notFound, retrieveUser, type ClientContext, type User } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { isErased } from '@attestry/keys';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { UserClaims } from '../user/user-claims.js';
import { activeUser } from '../user/user.decisions.js';
import { user, userStream } from '../user/user.state.js';

@Operation(retrieveUser)
export class RetrieveUser {
  constructor(
    private readonly streams: Streams,
    private readonly claims: UserClaims,
  ) {}

  async execute({ params }: RequestOf<typeof retrieveUser>, { tenant }: ClientContext): Promise<User> {
    const tenantId = tenant.id;
    const { state } = await this.streams.load(user, userStream(tenantId, params.id));
    const shown = await this.claims.viewOf(tenantId, activeUser(state));
    if (isErased(shown)) throw notFound();
    return shown;
  }
}
