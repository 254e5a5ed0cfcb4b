import { conflict } from '@attestry/contracts';
import type { AccountEvent } from './account.events.js';
import type { AccountState } from './account.state.js';

/** OWASP and NIST SP 800-63B §3.1.1.2: length decides; no rules on characters. */
export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 256;
export const MAX_ACCOUNT_NAME = 255;

/** Fewer different characters than this are a repetition. */
export const MIN_DIFFERENT_CHARACTERS = 5;
/** Shorter parts of an address occur in passwords by coincidence. */
const MIN_ADDRESS_PART = 4;

/** Upper and lower case and all forms of a character are equal (NIST SP 800-63B §3.1.1.2: NFKC). */
const folded = (text: string): string => text.normalize('NFKC').toLowerCase();

/**
 * Fault of a password that a user chose, and what is allowed; `undefined` when it is valid.
 * @param common the most frequent passwords, in lower case
 */
export const passwordFault = (password: string, email: string, common: ReadonlySet<string>): string | undefined => {
  const chosen = folded(password);
  const characters = [...chosen];
  if (characters.length < MIN_PASSWORD) return `Choose a password of at least ${MIN_PASSWORD} characters`;
  if (characters.length > MAX_PASSWORD) return `Choose a password of at most ${MAX_PASSWORD} characters`;
  if (addressParts(email).some((part) => chosen.includes(part)))
    return 'Choose a password that does not contain your e-mail address or a part of it';
  if (isRepetition(characters))
    return `Choose a password with at least ${MIN_DIFFERENT_CHARACTERS} different characters that is not one pattern repeated`;
  if (isCommon(chosen, common))
    return 'Choose a password that is not a common one, with or without digits or symbols at its end';
  return undefined;
};

const addressParts = (email: string): string[] => {
  const address = folded(email.trim());
  const [local = '', domain = ''] = address.split('@');
  const parts = [address, local, domain, ...local.split(/[^\p{L}\p{N}]+/u), ...domain.split('.')];
  return parts.filter((part) => [...part].length >= MIN_ADDRESS_PART);
};

/** A part that is repeated twice or more, with or without the beginning of another one. */
const isRepetition = (characters: readonly string[]): boolean => {
  if (new Set(characters).size < MIN_DIFFERENT_CHARACTERS) return true;
  for (let piece = 1; piece <= characters.length / 2; piece++)
    if (characters.every((character, at) => character === characters[at % piece])) return true;
  return false;
};

const isCommon = (chosen: string, common: ReadonlySet<string>): boolean => {
  const word = chosen.replace(/[^\p{L}]+$/u, '');
  return common.has(chosen) || common.has(chosen.trim()) || (word.length >= MIN_ADDRESS_PART && common.has(word));
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

/** @throws conflict when it is open: this never replaces a password */
export const openAccount = (
  state: AccountState,
  command: OpenAccountCommand,
  { now }: { now: string },
): AccountEvent[] => {
  if (state.status === 'open') throw conflict('The account already exists');
  return [{ type: 'AccountOpened', data: { ...command, openedAt: now } }];
};
