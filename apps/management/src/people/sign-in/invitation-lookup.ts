import { Injectable } from '@nestjs/common';
import { unavailable } from '@attestry/contracts';
import { InvitationLinksReadModel } from '../invitation-links/invitation-links.read-model.js';
import { People } from '../../users/people/people.js';
import { TenantListsReadModel } from '../../tenants/tenant-lists/tenant-lists.read-model.js';
import { shownName } from '../../tenants/tenant/shown-name.js';

/** Why a link is no longer valid. */
export type DeadLink = 'unknown' | 'used' | 'expired' | 'replaced' | 'withdrawn';

export type InvitationLink =
  { status: DeadLink } | { status: 'open'; tenantName: string; /** Where the invitation was sent to. */ email: string };

/**
 * State of a link's invitation. The secret is checked first; the rest reads rows by their keys and no stream, so that a link costs the same
 * whatever the tenant's age.
 */
@Injectable()
export class InvitationLookup {
  constructor(
    private readonly links: InvitationLinksReadModel,
    private readonly lists: TenantListsReadModel,
    private readonly people: People,
  ) {}

  /** @throws AppError 503 while the projections have not reached an invitation whose link is authentic */
  async findInvitation(text: string): Promise<InvitationLink> {
    const token = this.links.authenticToken(text);
    if (!token) return { status: 'unknown' };
    const found = await this.links.find(token);
    if (!found) throw unavailable();
    if (found.status !== 'open') return { status: found.status };
    if (Date.parse(found.expiresAt) <= Date.parse(this.people.now())) return { status: 'expired' };
    const invited = await this.lists.invited(found.tenantId, found.userId);
    if (!invited) throw unavailable();
    const { email } = await this.people.openPerson({ sealedEmail: invited.sealedEmail });
    return email === ''
      ? { status: 'withdrawn' }
      : { status: 'open', tenantName: shownName(invited.tenantName), email };
  }
}
