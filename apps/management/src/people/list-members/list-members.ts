import { listMembers, type ManagementContext, type Member, type PageOf } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../../tenants/caller/management-caller.js';
import { loadTenant } from '../../tenants/tenant/load-tenant.js';
import { memberView } from '../member-view/member-view.js';
import { People } from '../../users/people/people.js';
import { TenantListsReadModel } from '../../tenants/tenant-lists/tenant-lists.read-model.js';
import { memberStatus } from '../../tenants/tenant/membership.decisions.js';

/**
 * People, oldest first; machine clients are not members. Memberships are read from the tenant's stream, so that a removed member disappears
 * at once even when the list lags.
 */
@Operation(listMembers)
export class ListMembers {
  constructor(
    private readonly streams: Streams,
    private readonly people: People,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof listMembers>, context: ManagementContext): Promise<PageOf<Member>> {
    const { id, members } = await loadTenant(this.streams, request.params.tenantId, tenantCaller(context, listMembers));
    const listed = await this.lists.membersOf(id, request.query);
    const now = this.people.now();
    const shown = listed.data.map(async ({ userId, ...sealed }) => {
      const member = members.get(userId);
      return member
        ? [memberView(userId, await this.people.openPerson(sealed), memberStatus(member, now), member)]
        : [];
    });
    return { ...listed, data: (await Promise.all(shown)).flat() };
  }
}
