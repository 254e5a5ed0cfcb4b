import { invalidBody } from '@attestry/contracts';

const SHOWN = 5;
const ASTERISKS = '*'.repeat(10);

/** Always as many asterisks, so that the length stays secret; less than a third of a short secret is shown. */
export const mask = (secret: string): string =>
  ASTERISKS + secret.slice(secret.length - Math.min(SHOWN, Math.floor(secret.length / 4)));

/**
 * Whether a secret given on update is the stored one, masked.
 * @param member of the request
 * @throws 400 on `member` for the mask of another secret: storing it would lose the real one
 */
export const isMaskOf = (given: string, stored: string | undefined, member: string): boolean => {
  if (!given.startsWith(ASTERISKS)) return false;
  if (stored === undefined || given !== mask(stored))
    throw invalidBody(member, 'must be the secret itself, the masked form of the stored secret, or omitted');
  return true;
};
