import { Injectable } from '@nestjs/common';
import { EventStore, readEvent, Streams } from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
import { parseInvitationToken, type InvitationToken } from '../invite-member/invitation-token.js';
import { People } from '../people/people.js';
import { memberStatus } from '../tenant/membership.decisions.js';
import type { TenantEvent } from '../tenant/tenant.events.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

/** Why a link that once was good is not. */
export type DeadLink = 'unknown' | 'used' | 'expired' | 'replaced' | 'withdrawn';

export type InvitationLink =
  { status: DeadLink } | { status: 'open'; tenantName: string; /** Where the invitation was sent to. */ email: string };

const PAGE = 512;

/**
 * What a link of an invitation is worth at present. The tenant's state says whether it is good; why one is dead stands in the
 * history alone, and is told to nobody but who has the link's secret.
 */
@Injectable()
export class InvitationLinks {
  constructor(
    private readonly streams: Streams,
    private readonly store: EventStore,
    private readonly vault: KeyVault,
    private readonly people: People,
  ) {}

  async look(text: string): Promise<InvitationLink> {
    const token = parseInvitationToken(text);
    if (!token) return { status: 'unknown' };
    const { tenantId, userId, invitationId, secret } = token;
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    if (state.status === 'absent') return { status: 'unknown' };
    const member = state.status === 'active' ? state.members.get(userId) : undefined;
    if (state.status !== 'active' || member?.status !== 'invited' || member.invitationId !== invitationId)
      return { status: await this.fateOf(token) };
    if (!this.vault.verifyMac(secret, member.secretMac, invitationId)) return { status: 'unknown' };
    if (memberStatus(member, this.people.now()) === 'Expired') return { status: 'expired' };
    const user = await this.people.user(userId);
    const { email } = await this.people.open(user.status === 'absent' ? {} : user);
    return email === '' ? { status: 'withdrawn' } : { status: 'open', tenantName: state.name, email };
  }

  /** What became of an invitation that is not open any more. */
  private async fateOf({ tenantId, userId, invitationId, secret }: InvitationToken): Promise<DeadLink> {
    let isGenuine = false;
    let fate: DeadLink = 'withdrawn';
    for await (const event of this.history(tenantId)) {
      if (event.type === 'MemberInvited' && event.data.userId === userId) {
        if (event.data.invitationId === invitationId)
          isGenuine = this.vault.verifyMac(secret, event.data.secretMac, invitationId);
        else if (isGenuine && fate === 'withdrawn') fate = 'replaced';
      } else if (event.type === 'InvitationAccepted' && event.data.invitationId === invitationId) fate = 'used';
    }
    return isGenuine ? fate : 'unknown';
  }

  private async *history(tenantId: string): AsyncGenerator<TenantEvent> {
    for (let from = 0; ; from += PAGE) {
      const page = await this.store.readStream(tenantStream(tenantId), { from, limit: PAGE });
      for (const stored of page) yield readEvent(tenant, stored);
      if (page.length < PAGE) return;
    }
  }
}
