import { Inject } from '@nestjs/common';
import { resendInvitation, type InvitationResult, type ManagementContext } from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { Macs, Sealing } from '@attestry/keys';
import { IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { invitationResult } from '../invitation/invitation-result.js';
import { newInvitation } from '../invitation/new-invitation.js';
import { MailLimits } from '../mail-limits/mail-limits.js';
import { tenantCaller } from '../../tenants/caller/management-caller.js';
import { People } from '../../users/people/people.js';
import { TenantChanges } from '../../tenants/tenant-changes/tenant-changes.js';
import { resendInvitation as decide, seenInvitation } from '../../tenants/tenant/membership.decisions.js';
import { tenant, tenantStream } from '../../tenants/tenant/tenant.state.js';

/** Sent by the reaction that sends every invitation. */
@Operation(resendInvitation)
export class ResendInvitation {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly people: People,
    private readonly mails: MailLimits,
    private readonly changes: TenantChanges,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(request: RequestOf<typeof resendInvitation>, context: ManagementContext): Promise<InvitationResult> {
    const { tenantId, userId } = request.params;
    const caller = tenantCaller(context, resendInvitation);
    // No key is created for a link that will not be sent.
    seenInvitation((await this.streams.load(tenant, tenantStream(tenantId))).state, caller, userId);
    const user = await this.people.user(userId);
    const registered = user.status === 'registered';
    if (registered) return this.resend(request, context, registered);
    const { email } = await this.people.openPerson(user.status === 'absent' ? {} : user);
    return this.mails.useFor(tenantId, email, this.ids.uuid(), () => this.resend(request, context, registered));
  }

  private async resend(
    request: RequestOf<typeof resendInvitation>,
    context: ManagementContext,
    registered: boolean,
  ): Promise<InvitationResult> {
    const { tenantId, userId } = request.params;
    const now = this.people.now();
    const facts = await newInvitation(this.macs, this.sealing, this.ids, context, tenantId, registered, now);
    const state = await this.changes.decide(resendInvitation, tenantId, context, (current, caller) =>
      decide(current, { caller, userId }, facts),
    );
    return invitationResult(state, userId, now);
  }
}
