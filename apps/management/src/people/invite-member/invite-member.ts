import { Inject } from '@nestjs/common';
import { inviteMember, type ContextOf, type InvitationResult, type ManagementContext } from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { Macs, Sealing } from '@attestry/keys';
import { idFor, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { loadTenant } from '../../tenants/tenant/load-tenant.js';
import { tenantCaller } from '../../tenants/caller/management-caller.js';
import { MailLimits } from '../mail-limits/mail-limits.js';
import { People } from '../../users/people/people.js';
import { TenantChanges } from '../../tenants/tenant-changes/tenant-changes.js';
import { inviteMember as decide } from '../../tenants/tenant/membership.decisions.js';
import { invitationResult } from '../invitation/invitation-result.js';
import { newInvitation } from '../invitation/new-invitation.js';

/** The e-mail is sent by a reaction on the stored event. */
@Operation(inviteMember)
export class InviteMember {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly people: People,
    private readonly mails: MailLimits,
    private readonly changes: TenantChanges,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    request: RequestOf<typeof inviteMember>,
    context: ContextOf<typeof inviteMember>,
  ): Promise<InvitationResult> {
    const { tenantId } = request.params;
    const { email } = request.body;
    // A caller who is not a member stores nothing, not even the person they name.
    await loadTenant(this.streams, tenantId, tenantCaller(context, inviteMember));
    // Registered users are added without an e-mail.
    if (await this.people.isRegistered(email)) return this.invite(request, context);
    const id = idFor(context, 'invitation', this.ids);
    return this.mails.useFor(tenantId, email, id, () => this.invite(request, context));
  }

  async checkRetry({ params }: RequestOf<typeof inviteMember>, context: ManagementContext): Promise<void> {
    await loadTenant(this.streams, params.tenantId, tenantCaller(context, inviteMember));
  }

  private async invite(
    request: RequestOf<typeof inviteMember>,
    context: ContextOf<typeof inviteMember>,
  ): Promise<InvitationResult> {
    const { tenantId } = request.params;
    const { email, roles } = request.body;
    const { userId, registered } = await this.people.byEmail(email, this.people.events(context));
    const now = this.people.now();
    const facts = await newInvitation(this.macs, this.sealing, this.ids, context, tenantId, registered, now);
    const state = await this.changes.decide(
      inviteMember,
      tenantId,
      context,
      (current, caller) => decide(current, { caller, userId, roles }, facts),
      { once: true },
    );
    return invitationResult(state, userId, now);
  }
}
