import { randomDigits, randomPick, type ByteSource } from '@attestry/keys';

export const TRANSACTION_CODE_LENGTH = 6;

/** Capital letters and digits that are not mistaken for one another (no 0 O, 1 I L). */
const UNAMBIGUOUS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

export const makeTransactionCode = (inputMode: 'numeric' | 'text', from?: ByteSource): string =>
  inputMode === 'numeric'
    ? randomDigits(TRANSACTION_CODE_LENGTH, from)
    : randomPick(UNAMBIGUOUS, TRANSACTION_CODE_LENGTH, from);

/** Input of the MAC: people may type the letters of a text code in lower case. */
export const normalTransactionCode = (code: string, inputMode: 'numeric' | 'text'): string =>
  inputMode === 'text' ? code.toUpperCase() : code;
