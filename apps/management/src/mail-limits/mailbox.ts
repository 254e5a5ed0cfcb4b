import { domainToASCII } from 'node:url';

/**
 * What all spellings of a mailbox have in common: case, forms of the same character, the ASCII form of the domain, and what follows a
 * `+` in the local part (RFC 5233), which most servers deliver to the same mailbox.
 */
export const mailboxOf = (email: string): string => {
  const text = email.trim().normalize('NFKC').toLowerCase();
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  return `${local.replace(/(?<=.)\+.*$/s, '')}@${domainToASCII(domain) || domain}`;
};
