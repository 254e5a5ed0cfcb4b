import { mayHavePassword } from '@attestry/contracts';

const MOST_SHOWN = 200;

/** A name that a wallet sent, for a refusal that shows it beside the right one. Error descriptions replace characters that they must not have. */
export const shownName = (name: unknown): string => {
  if (typeof name !== 'string') return 'a value that is no string';
  if (mayHavePassword(name)) return 'an address with a user name or password';
  return name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}...` : name;
};
