import { Injectable } from '@nestjs/common';
import { Macs } from '@attestry/keys';
import { ReadModels } from '@attestry/read-model';
import { Health, ReadModel } from '@attestry/service-kit';
import { isAuthentic, parseInvitationToken, type InvitationToken } from '../invitation/invitation-token.js';
import { invitationLinks, type InvitationLinkTables, type InvitationStatus } from './invitation-links.projection.js';

/** A page that shows an older state confuses more than a wait of a second. */
const WAIT_MS = 1000;

/** An invitation found by its link. */
export interface FoundInvitation {
  tenantId: string;
  userId: string;
  status: InvitationStatus;
  /** RFC 3339. */
  expiresAt: string;
}

@Injectable()
export class InvitationLinksReadModel extends ReadModel<InvitationLinkTables> {
  constructor(
    readModels: ReadModels,
    health: Health,
    private readonly macs: Macs,
  ) {
    super(readModels, health, invitationLinks);
  }

  /** The token of a link that this platform issued; verified without any read. */
  authenticToken(text: string): InvitationToken | undefined {
    const token = parseInvitationToken(text);
    return token && isAuthentic(this.macs, token) ? token : undefined;
  }

  /**
   * State of an invitation.
   * @param token as {@link authenticToken} returned it
   * @returns `undefined` while the projection has not reached the invitation
   */
  async find(token: InvitationToken): Promise<FoundInvitation | undefined> {
    // Only links with a genuine secret wait for the projection.
    await this.running.waitForHead(WAIT_MS);
    return this.row(token);
  }

  /** The row whose MAC matches the secret. */
  private async row({ invitationId, secret, ...token }: InvitationToken): Promise<FoundInvitation | undefined> {
    const row = await this.running.db
      .selectFrom('invitation')
      .selectAll()
      .where('id', '=', invitationId)
      .executeTakeFirst();
    if (!row || row.tenant_id !== token.tenantId || row.user_id !== token.userId) return undefined;
    if (!this.macs.verifyMac(secret, row, invitationId)) return undefined;
    const { tenant_id: tenantId, user_id: userId, expires_at: expiresAt } = row;
    return { tenantId, userId, status: row.status as InvitationStatus, expiresAt };
  }
}
