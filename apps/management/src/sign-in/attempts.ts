import { Injectable } from '@nestjs/common';
import type { ExpiringRecords } from '@attestry/keys';

/** Wrong passwords of one account and from one address, in a window that begins with the first. */
const WINDOW_MS = 15 * 60_000;
export const ATTEMPTS_PER_ACCOUNT = 10;
export const ATTEMPTS_PER_ADDRESS = 50;

/** Slows down who guesses. Accounts that do not exist count like others, so that nothing is told by it. */
@Injectable()
export class Attempts {
  /**
   * Counts an attempt before it is judged, so that many at once are no way around.
   * @param account what the account is counted by, whether it exists or not
   * @returns when another may be made, once there were too many
   */
  async begin(records: ExpiringRecords, account: string, address: string): Promise<Date | undefined> {
    const [ofAccount, ofAddress] = await Promise.all([
      records.attempt('account', account, WINDOW_MS),
      records.attempt('address', address, WINDOW_MS),
    ]);
    const ends = [
      ...(ofAccount.used > ATTEMPTS_PER_ACCOUNT ? [ofAccount.endsAt.getTime()] : []),
      ...(ofAddress.used > ATTEMPTS_PER_ADDRESS ? [ofAddress.endsAt.getTime()] : []),
    ];
    return ends.length ? new Date(Math.max(...ends)) : undefined;
  }

  /** Of the account alone: an address that knows one password may guess another's. */
  async succeeded(records: ExpiringRecords, account: string): Promise<void> {
    await records.forgetAttempts('account', account);
  }
}
