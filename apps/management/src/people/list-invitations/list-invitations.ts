import { listInvitations, type Invitation, type ManagementContext, type PageOf } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../../tenants/caller/management-caller.js';
import { People } from '../../users/people/people.js';
import { TenantListsReadModel } from '../../tenants/tenant-lists/tenant-lists.read-model.js';
import { memberStatus } from '../../tenants/tenant/membership.decisions.js';
import { loadTenant } from '../../tenants/tenant/load-tenant.js';

/** The stream decides which invitations are open, even when the list lags, as for the list of members. */
@Operation(listInvitations)
export class ListInvitations {
  constructor(
    private readonly streams: Streams,
    private readonly people: People,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof listInvitations>, context: ManagementContext): Promise<PageOf<Invitation>> {
    const { id, members } = await loadTenant(
      this.streams,
      request.params.tenantId,
      tenantCaller(context, listInvitations),
    );
    const listed = await this.lists.invitedOf(id, request.query);
    const now = this.people.now();
    const shown = listed.data.map(async ({ userId, ...sealed }): Promise<Invitation[]> => {
      const member = members.get(userId);
      if (member?.status !== 'invited') return [];
      const { email } = await this.people.openPerson(sealed);
      const { roles, inviteExpiresAt } = member;
      return [{ userId, email, status: memberStatus(member, now), roles, inviteExpiresAt }];
    });
    return { ...listed, data: (await Promise.all(shown)).flat() };
  }
}
