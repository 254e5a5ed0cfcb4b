import { Injectable } from '@nestjs/common';
import { Macs, PLATFORM } from '@attestry/keys';
import { Budgets, type Budget } from '@attestry/service-kit';
import { mailboxOf } from './mailbox.js';

const HOUR_MS = 3_600_000;
/** Over all tenants: the limit protects the mailbox. */
export const MAILS_PER_MAILBOX = 5;
export const MAILS_PER_TENANT = 200;

/** How many invitations are sent (ADR 0049). Checked before anything changes. */
@Injectable()
export class MailLimits {
  constructor(
    private readonly budgets: Budgets,
    private readonly macs: Macs,
  ) {}

  /**
   * Counts one e-mail; a refused operation returns it.
   * @param id of the invitation: a retried call counts once
   * @throws AppError 429 with `Retry-After`
   */
  async useFor<Result>(tenantId: string, email: string, id: string, work: () => Promise<Result>): Promise<Result> {
    const ofTenant: Budget = {
      name: 'tenant-mails',
      owner: tenantId,
      key: tenantId,
      limit: MAILS_PER_TENANT,
      windowMs: HOUR_MS,
      message: `A tenant can send at most ${MAILS_PER_TENANT} invitations an hour`,
    };
    const ofMailbox: Budget = {
      name: 'mailbox',
      owner: PLATFORM,
      key: this.macs.mac(mailboxOf(email), 'mailbox').mac,
      limit: MAILS_PER_MAILBOX,
      windowMs: HOUR_MS,
      message: `At most ${MAILS_PER_MAILBOX} invitations an hour are sent to one mailbox`,
    };
    return this.budgets.useFor(id, [ofTenant, ofMailbox], work);
  }
}
