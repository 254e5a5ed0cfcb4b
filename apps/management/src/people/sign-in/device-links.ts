import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@attestry/event-store';
import { newId, randomSecret, type SignInRecords } from '@attestry/keys';
import { CLOCK, LOGGER, PlatformConfig, type Logger } from '@attestry/service-kit';
import { Mailer } from '../send-invitations/mailer.js';
import { Accounts } from './accounts.js';
import { WINDOW_MS } from './attempts.js';

const KIND = 'DeviceLink';
/**
 * Links live as long as budgets are exhausted: three links an hour with a shorter life would leave a part of the hour in which a third
 * party that requested all of them locks the owner out of new browsers.
 */
const LIFE_MS = WINDOW_MS;

/**
 * Links by which the owner of an account makes a browser known to it while failures elsewhere have exhausted the budget of unknown
 * browsers. The link proves the mailbox, as an invitation does; it does not sign in.
 */
@Injectable()
export class DeviceLinks {
  constructor(
    private readonly accounts: Accounts,
    private readonly mailer: Mailer,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Sends a link when the address has an account. Never rejects. @param account MAC of the address */
  async send(records: SignInRecords, email: string, account: string, requestId: string): Promise<void> {
    try {
      const holder = await this.accounts.byEmail(email);
      if (!holder) return;
      const token = randomSecret();
      const expiresAt = new Date(this.clock.now().getTime() + LIFE_MS);
      // The MAC reveals nothing about the address, so there is nothing to seal.
      await records.put({ kind: KIND, key: token, sealed: account, expiresAt });
      const link = `${this.config.signInIssuer}/browser?token=${token}`;
      await this.mailer.send(newId(), deviceLinkMail(holder.email, link));
    } catch (error) {
      this.logger.error(
        { requestId, error: error instanceof Error ? error.message : String(error) },
        'sign-in link not sent',
      );
    }
  }

  /** MAC of the address that the link was sent to; `undefined` once it was used or has expired. */
  async accountOf(records: SignInRecords, token: string): Promise<string | undefined> {
    const found = await records.get(KIND, token);
    return found && found.spentAt === undefined ? found.sealed : undefined;
  }

  /** {@link accountOf}, for one of several concurrent calls only. */
  async spend(records: SignInRecords, token: string): Promise<string | undefined> {
    const account = await this.accountOf(records, token);
    return account !== undefined && (await records.spend(KIND, token)) ? account : undefined;
  }
}

const deviceLinkMail = (to: string, link: string) => ({
  to,
  subject: 'Sign in with another browser',
  text: [
    'Someone who tried to sign in with this e-mail address requested this link.',
    '',
    'If it was you, open the link in the browser that you want to use, then sign in there with your password:',
    '',
    link,
    '',
    'The link can be used once and expires after one hour.',
    'If it was not you, you can ignore this e-mail: without your password, the link lets no one sign in.',
    '',
  ].join('\n'),
});
