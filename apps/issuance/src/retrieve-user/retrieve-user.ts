import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { notFound, type OperationContext, type retrieveUser, type User } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { isErased } from '@attestry/keys';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { UserClaims } from '../user/user-claims.js';
import { activeUser } from '../user/user.decisions.js';
import { user, userStream } from '../user/user.state.js';

export class RetrieveUser {
  constructor(
    readonly request: RequestOf<typeof retrieveUser>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveUser)
export class RetrieveUserHandler implements IQueryHandler<RetrieveUser> {
  constructor(
    private readonly streams: Streams,
    private readonly claims: UserClaims,
  ) {}

  async execute({ request: { params }, context }: RetrieveUser): Promise<User> {
    const tenantId = tenantOf(context).id;
    const { state } = await this.streams.load(user, userStream(tenantId, params.id));
    const shown = await this.claims.viewOf(tenantId, activeUser(state));
    if (isErased(shown)) throw notFound();
    return shown;
  }
}
