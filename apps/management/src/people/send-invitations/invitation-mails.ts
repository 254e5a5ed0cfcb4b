import { Inject, Injectable } from '@nestjs/common';
import { Streams } from '@attestry/event-store';
import { isErased, KeyNotFound, Macs, Sealing } from '@attestry/keys';
import { LOGGER, PlatformConfig, type Logger } from '@attestry/service-kit';
import { memberStatus } from '../../tenants/tenant/membership.decisions.js';
import { tenant, tenantStream } from '../../tenants/tenant/tenant.state.js';
import { People } from '../../users/people/people.js';
import { invitationToken } from '../invitation/invitation-token.js';
import type { DeferredInvitation } from './deferred-invitations.js';
import { invitationMail } from './invitation-mail.js';
import { Mailer, MailRefused } from './mailer.js';

type Invited = Omit<DeferredInvitation, 'tries' | 'nextTryAt'>;

/** E-mails of invitations, each with the secret that is sealed in the event. */
@Injectable()
export class InvitationMails {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly people: People,
    private readonly mailer: Mailer,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Sends the e-mail unless it was sent, and destroys the key of its secret. @throws MailDeferred */
  async handOver(invited: Invited): Promise<void> {
    const { tenantId, invitationId } = invited;
    const secret = await this.secretOf(invited);
    if (secret === undefined) return;
    try {
      await this.send(invited, secret);
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      this.logger.error({ tenantId, invitationId, error: error.message }, 'invitation refused by the mail server');
    }
    await this.sealing.destroyDataKeys(tenantId, [invitationId]);
  }

  /** `undefined` when the e-mail was sent before. */
  private async secretOf({ tenantId, invitationId, sealedSecret }: Invited): Promise<string | undefined> {
    try {
      const secret = await this.sealing.openSealed(tenantId, 'delivery', sealedSecret);
      return isErased(secret) ? undefined : secret;
    } catch (error) {
      if (!(error instanceof KeyNotFound)) throw error;
      this.logger.warn({ tenantId, invitationId }, 'key of invitation missing');
      return undefined;
    }
  }

  /** No e-mail for an invitation that has been replaced, accepted or withdrawn meanwhile, or has expired. */
  private async send({ tenantId, userId, invitationId, expiresAt }: Invited, secret: string): Promise<void> {
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    const member = state.status === 'active' ? state.members.get(userId) : undefined;
    if (state.status !== 'active' || member?.status !== 'invited' || member.invitationId !== invitationId) return;
    if (memberStatus(member, this.people.now()) === 'Expired') return;
    const user = await this.people.user(userId);
    const { email } = await this.people.openPerson(user.status === 'absent' ? {} : user);
    if (email === '') return;
    const token = invitationToken(this.macs, { tenantId, userId, invitationId, secret });
    const link = `${this.config.invitationUrl}?token=${token}`;
    await this.mailer.send(invitationId, invitationMail(email, { tenantName: state.name, link, expiresAt }));
  }

  /** Destroys the secret of an invitation whose e-mail is not sent. */
  async drop({ tenantId, invitationId }: Invited, { message: error }: Error): Promise<void> {
    this.logger.error({ tenantId, invitationId, error }, 'invitation dropped, too many deferred');
    await this.sealing.destroyDataKeys(tenantId, [invitationId]);
  }
}
