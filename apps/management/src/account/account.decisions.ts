import { conflict } from '@attestry/contracts';
import type { AccountEvent } from './account.events.js';
import type { AccountState } from './account.state.js';

/** OWASP and NIST SP 800-63B §3.1.1.2: length is what counts; no rules on characters. */
export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 256;
export const MAX_ACCOUNT_NAME = 255;

/** What is wrong with a password somebody chose; `undefined` when nothing is. */
export const passwordFault = (password: string, email: string): string | undefined => {
  const length = [...password].length;
  if (length < MIN_PASSWORD) return `Choose a password of at least ${MIN_PASSWORD} characters`;
  if (length > MAX_PASSWORD) return `Choose a password of at most ${MAX_PASSWORD} characters`;
  if (password.toLowerCase().includes(email.toLowerCase())) return 'Choose a password without your e-mail address';
  return undefined;
};

export const accountNameFault = (name: string): string | undefined => {
  if (name.length < 1) return 'Enter your name';
  if (name.length > MAX_ACCOUNT_NAME) return `Enter a name of at most ${MAX_ACCOUNT_NAME} characters`;
  return /\p{Cc}/u.test(name) || !name.isWellFormed() ? 'Enter a name without control characters' : undefined;
};

export interface OpenAccountCommand {
  accountId: string;
  sealedEmail: string;
  sealedName: string;
  sealedPassword: string;
}

/** @throws conflict when it is open: another password never replaces one this way */
export const openAccount = (
  state: AccountState,
  command: OpenAccountCommand,
  { now }: { now: string },
): AccountEvent[] => {
  if (state.status === 'open') throw conflict('The account is open');
  return [{ type: 'AccountOpened', data: { ...command, openedAt: now } }];
};
