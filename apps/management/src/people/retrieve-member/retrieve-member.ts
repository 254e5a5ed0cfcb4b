import { notFound, retrieveMember, type ManagementContext, type Member } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../../tenants/caller/management-caller.js';
import { memberView } from '../member-view/member-view.js';
import { People } from '../../users/people/people.js';
import { memberStatus, seenMember } from '../../tenants/tenant/membership.decisions.js';
import { tenant, tenantStream } from '../../tenants/tenant/tenant.state.js';

@Operation(retrieveMember)
export class RetrieveMember {
  constructor(
    private readonly streams: Streams,
    private readonly people: People,
  ) {}

  async execute(request: RequestOf<typeof retrieveMember>, context: ManagementContext): Promise<Member> {
    const { tenantId, userId } = request.params;
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    const { member } = seenMember(state, tenantCaller(context, retrieveMember), userId);
    const user = await this.people.user(userId);
    if (user.status === 'absent') throw notFound();
    return memberView(userId, await this.people.openPerson(user), memberStatus(member, this.people.now()), member);
  }
}
