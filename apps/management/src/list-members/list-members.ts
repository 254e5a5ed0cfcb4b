import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { listMembers, Member, OperationContext, PageOf } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import type { RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { memberView } from '../people/member-view.js';
import { People } from '../people/people.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { memberStatus } from '../tenant/membership.decisions.js';
import { seenByAdmin } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class ListMembers {
  constructor(
    readonly request: RequestOf<typeof listMembers>,
    readonly context: OperationContext,
  ) {}
}

/**
 * People, oldest first; machine clients are no members. What a membership is stands in the tenant's stream, so that
 * who was removed is gone at once however far the list is.
 */
@QueryHandler(ListMembers)
export class ListMembersHandler implements IQueryHandler<ListMembers> {
  constructor(
    private readonly streams: Streams,
    private readonly people: People,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute({ request, context }: ListMembers): Promise<PageOf<Member>> {
    const { state } = await this.streams.load(tenant, tenantStream(request.params.tenantId));
    const { id, members } = seenByAdmin(state, managementCaller(context));
    const listed = await this.lists.membersOf(id, request.query);
    const now = this.people.now();
    const shown = listed.data.map(async ({ userId, ...sealed }) => {
      const member = members.get(userId);
      return member ? [memberView(userId, await this.people.open(sealed), memberStatus(member, now), member)] : [];
    });
    return { ...listed, data: (await Promise.all(shown)).flat() };
  }
}
