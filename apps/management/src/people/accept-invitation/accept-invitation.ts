import { acceptInvitation, invalidBody, type ContextOf, type MembershipUpdate } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { InvitationLinksReadModel } from '../invitation-links/invitation-links.read-model.js';
import { People } from '../../users/people/people.js';
import { TenantChanges } from '../../tenants/tenant-changes/tenant-changes.js';
import { acceptInvitation as decide } from '../../tenants/tenant/membership.decisions.js';
import { rolesOf } from '../../tenants/tenant/tenant.decisions.js';

/** The tenant stream's expected revision ensures single use. */
@Operation(acceptInvitation)
export class AcceptInvitation {
  constructor(
    private readonly macs: Macs,
    private readonly people: People,
    private readonly links: InvitationLinksReadModel,
    private readonly changes: TenantChanges,
  ) {}

  async execute(
    request: RequestOf<typeof acceptInvitation>,
    context: ContextOf<typeof acceptInvitation>,
  ): Promise<MembershipUpdate> {
    const acceptedBy = context.caller.userId;
    // Before the tenant's stream is read.
    const token = this.links.authenticToken(request.body.token);
    if (!token) throw invalidBody('token', 'must be the token of an open invitation');
    const { tenantId, userId, invitationId, secret } = token;
    const facts = {
      isGenuine: (mac: Parameters<Macs['verifyMac']>[1]) => this.macs.verifyMac(secret, mac, invitationId),
      registered: (await this.people.user(userId)).status === 'registered',
      now: this.people.now(),
    };
    const state = await this.changes.change(tenantId, context, (current) =>
      decide(current, { userId, invitationId, acceptedBy }, facts),
    );
    const roles = state.status === 'active' ? rolesOf(state, { kind: 'user', userId: acceptedBy }) : undefined;
    return { userId: acceptedBy, tenantId, roles: roles ?? [] };
  }
}
