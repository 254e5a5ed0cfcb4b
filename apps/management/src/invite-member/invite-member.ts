import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { InvitationResult, inviteMember as operation, OperationContext } from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { KeyVault, randomSecret } from '@attestry/keys';
import { bytesFor, eventContext, idFor, IDS, sealAgain, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { People } from '../people/people.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { inviteMember, memberStatus } from '../tenant/membership.decisions.js';
import { seenByAdmin } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class InviteMember {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

/**
 * The e-mail is sent by a reaction on the stored event. The link's secret stands in the event twice: as the MAC that it is checked
 * by, and sealed under a delivery key of its own, so that the e-mail can be made after a crash too; once it was handed
 * over the key is destroyed, and only the mailbox has the secret.
 */
@CommandHandler(InviteMember)
export class InviteMemberHandler implements ICommandHandler<InviteMember> {
  constructor(
    private readonly streams: Streams,
    private readonly vault: KeyVault,
    private readonly people: People,
    private readonly lists: TenantListsReadModel,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute({ request, context }: InviteMember): Promise<InvitationResult> {
    const { tenantId } = request.params;
    const { email, roles } = request.body;
    const caller = managementCaller(context);
    // Strangers leave no trace: not even the person they name becomes known.
    seenByAdmin((await this.streams.load(tenant, tenantStream(tenantId))).state, caller);
    const { userId, registered } = await this.people.byEmail(email, this.people.events(context));
    const invitationId = idFor(context, 'invitation', this.ids);
    const secret = randomSecret(32, bytesFor(context, 'link'));
    const link = registered ? undefined : await sealAgain(this.vault, tenantId, 'delivery', invitationId, secret);
    const now = this.people.now();
    const facts = { registered, invitationId, secretMac: this.vault.mac(secret, invitationId), now };
    const { state, position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (current) => inviteMember(current, { caller, userId, roles }, { ...facts, sealedSecret: link?.sealed ?? '' }),
      eventContext(context, tenantId),
      { once: true },
    );
    await this.lists.settled(position);
    const member = state.status === 'active' ? state.members.get(userId) : undefined;
    if (!member?.inviteExpiresAt) throw new Error('who was invited is a member');
    return { userId, status: memberStatus(member, now), inviteExpiresAt: member.inviteExpiresAt };
  }
}
