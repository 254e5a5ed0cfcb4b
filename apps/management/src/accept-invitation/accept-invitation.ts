import { acceptInvitation, invalidBody, type ContextOf, type MembershipUpdate } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { InvitationLinksReadModel } from '../invitation-links/invitation-links.read-model.js';
import { People } from '../people/people.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { acceptInvitation as decide } from '../tenant/membership.decisions.js';
import { rolesOf } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

/** The tenant stream's expected revision ensures single use. */
@Operation(acceptInvitation)
export class AcceptInvitation {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly people: People,
    private readonly links: InvitationLinksReadModel,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(
    request: RequestOf<typeof acceptInvitation>,
    context: ContextOf<typeof acceptInvitation>,
  ): Promise<MembershipUpdate> {
    const acceptedBy = context.caller.userId;
    // Before the tenant's stream is read.
    const token = await this.links.authenticToken(request.body.token);
    if (!token) throw invalidBody('token', 'must be the token of an open invitation');
    const { tenantId, userId, invitationId, secret } = token;
    const facts = {
      isGenuine: (mac: Parameters<Macs['verifyMac']>[1]) => this.macs.verifyMac(secret, mac, invitationId),
      registered: (await this.people.user(userId)).status === 'registered',
      now: this.people.now(),
    };
    const { state, position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (current) => decide(current, { userId, invitationId, acceptedBy }, facts),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
    const roles = state.status === 'active' ? rolesOf(state, { kind: 'user', userId: acceptedBy }) : undefined;
    return { userId: acceptedBy, tenantId, roles: roles ?? [] };
  }
}
