import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@attestry/event-store';
import { CLOCK, Metrics } from '@attestry/service-kit';
import { Accounts, type AccountHolder } from './accounts.js';
import { Attempts, remainingWait, type KnownBrowser, type UsedUp } from './attempts.js';
import { DeviceCookies } from './device-cookies.js';
import type { PageCall } from './page-call.js';
import type { FormFault } from './pages.js';
import { USED_UP, WRONG } from './sign-in-texts.js';

/** The account of a right password, or the faults to show. */
export type CheckedPassword = { holder: AccountHolder } | Refused;
export interface Refused {
  faults: FormFault[];
  /** Seconds. */
  retryAfter?: number;
  /** Account whose budget for unknown browsers is exhausted: a link to its mailbox makes this browser a known one. */
  lockedEmail?: string;
}

/** Longest address that is looked up. */
export const MAX_EMAIL = 320;
const MAX_PASSWORD = 1024;

/** Checks the field `password` of a form. */
@Injectable()
export class PasswordCheck {
  constructor(
    private readonly accounts: Accounts,
    private readonly attempts: Attempts,
    private readonly devices: DeviceCookies,
    private readonly metrics: Metrics,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Failures are limited, whether the account exists or not. A right password makes the browser known to the account.
   * @param link that was sent to the account's mailbox and opened in this browser
   * @throws AppError 503 or 429 with too many concurrent sign-ins
   */
  async check(pageCall: PageCall, email: string, link?: string): Promise<CheckedPassword> {
    const password = pageCall.fields['password'] ?? '';
    const faults: FormFault[] = [
      ...(email.trim() === '' ? [{ field: 'email', text: 'Enter your e-mail address' }] : []),
      ...(password === '' ? [{ field: 'password', text: 'Enter your password' }] : []),
    ];
    if (faults.length) return { faults };
    const { attempts } = pageCall.store;
    const account = this.accounts.macOf(email.slice(0, MAX_EMAIL));
    const known = this.knownBrowser(pageCall, account, link);
    const begun = await this.attempts.begin(attempts, { account, address: pageCall.address, known });
    if ('until' in begun) return this.usedUpFault(begun, email);
    // Other callers behind the same address do not lock out a browser known to the account.
    const caller = known ? `account ${account}` : `address ${pageCall.address}`;
    let holder: AccountHolder | undefined;
    try {
      holder = await this.accounts.verifyPassword(email.slice(0, MAX_EMAIL), password.slice(0, MAX_PASSWORD), caller);
    } catch (error) {
      // Only verified passwords count: a full queue does not use up the owner's budget.
      await this.attempts.takeBack(attempts, begun.attempt);
      throw error;
    }
    this.metrics.counter('signInAttempts').inc({ outcome: holder ? 'ok' : 'wrong' });
    if (!holder) return { faults: [{ field: 'email', text: WRONG }] };
    await this.attempts.takeBack(attempts, begun.attempt);
    this.devices.addDevice(pageCall.request, pageCall.response, account, pageCall.isSecure);
    return { holder };
  }

  private knownBrowser({ request, isSecure }: PageCall, account: string, link?: string): KnownBrowser | undefined {
    const device = this.devices.deviceOf(request, account, isSecure);
    if (device !== undefined) return { kind: 'device', key: device };
    return link === undefined ? undefined : { kind: 'link', key: link };
  }

  private usedUpFault({ usedUp, until }: { usedUp: UsedUp; until: Date }, email: string): Refused {
    this.metrics.counter('signInAttempts').inc({ outcome: usedUp });
    const { retryAfter, wait } = remainingWait(until, this.clock.now());
    const faults = [{ text: `${USED_UP[usedUp]}. Try again in ${wait}.` }];
    return { faults, retryAfter, ...(usedUp === 'account' && { lockedEmail: email.slice(0, MAX_EMAIL) }) };
  }
}
