import { Injectable } from '@nestjs/common';
import type { SignInAttempts } from '@attestry/keys';

/** Failures count in a window that begins with the first one. */
export const WINDOW_MS = 3_600_000;
/** Failures of all browsers together that are unknown to the account. */
export const FAILURES_PER_ACCOUNT = 10;
/** Failures of one browser known to the account, or of one link that was sent to the account's address. */
export const FAILURES_PER_KNOWN_BROWSER = 10;
/** Failures of unknown browsers behind one address, over all accounts: one address can use up the budgets of five accounts at most. */
export const FAILURES_PER_ADDRESS = 50;
/** Links sent to one account, and requested from one address. */
export const LINKS_PER_ACCOUNT = 3;
export const LINKS_PER_ADDRESS = 10;

/** Why a browser is known to the account. `key` names the cookie or the link. */
export interface KnownBrowser {
  kind: 'device' | 'link';
  key: string;
}

/** The exhausted budget. */
export type UsedUp = 'address' | 'account' | KnownBrowser['kind'];

interface Budget<Kind extends string> {
  kind: Kind;
  key: string;
  limit: number;
}

export type Begun = { attempt: Budget<string>[] } | { usedUp: UsedUp; until: Date };

/**
 * Budgets of failed sign-ins (ADR 0048). A browser known to the account has its own, so that failures elsewhere do not lock the owner out.
 * Accounts that do not exist count in the same way: a refusal does not reveal whether an account exists.
 */
@Injectable()
export class Attempts {
  /**
   * Counts an attempt before the password is verified, so that concurrent attempts share the budget too. A refused attempt
   * is not counted anywhere.
   * @param account MAC of the e-mail address, whether or not it has an account
   * @param address IPv4 address or IPv6 /64, as the gateway counts it
   */
  async begin(
    attempts: SignInAttempts,
    { account, address, known }: { account: string; address: string; known?: KnownBrowser | undefined },
  ): Promise<Begun> {
    const budgets: Budget<UsedUp>[] = known
      ? [{ kind: known.kind, key: `${account} ${known.key}`, limit: FAILURES_PER_KNOWN_BROWSER }]
      : [
          { kind: 'address', key: address, limit: FAILURES_PER_ADDRESS },
          { kind: 'account', key: account, limit: FAILURES_PER_ACCOUNT },
        ];
    return this.count(attempts, budgets);
  }

  /** Only failures count: neither a right password nor one that was not verified. */
  async takeBack(attempts: SignInAttempts, attempt: readonly Budget<string>[]): Promise<void> {
    await Promise.all(attempt.map(({ kind, key }) => attempts.takeBack(kind, key)));
  }

  /** Counts a link to be sent to the account. @returns until when none is sent, once there were too many */
  async beginLink(attempts: SignInAttempts, account: string, address: string): Promise<Date | undefined> {
    const begun = await this.count(attempts, [
      { kind: 'link-address', key: address, limit: LINKS_PER_ADDRESS },
      { kind: 'link-account', key: account, limit: LINKS_PER_ACCOUNT },
    ]);
    return 'until' in begun ? begun.until : undefined;
  }

  private async count<Kind extends string>(
    attempts: SignInAttempts,
    budgets: readonly Budget<Kind>[],
  ): Promise<{ attempt: Budget<string>[] } | { usedUp: Kind; until: Date }> {
    const counted: Budget<Kind>[] = [];
    for (const budget of budgets) {
      const { used, endsAt } = await attempts.count(budget.kind, budget.key, WINDOW_MS);
      counted.push(budget);
      if (used <= budget.limit) continue;
      await this.takeBack(attempts, counted);
      return { usedUp: budget.kind, until: endsAt };
    }
    return { attempt: counted };
  }
}

/** How long a refusal lasts: seconds for `Retry-After`, and words for a page. */
export const remainingWait = (until: Date, now: Date): { retryAfter: number; wait: string } => {
  const retryAfter = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  const minutes = Math.ceil(retryAfter / 60);
  return { retryAfter, wait: minutes === 1 ? '1 minute' : `${minutes} minutes` };
};
