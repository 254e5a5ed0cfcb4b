import { domainToASCII } from 'node:url';

/** Domains of one provider that ignores dots in the local part. */
const GMAIL: ReadonlySet<string> = new Set(['gmail.com', 'googlemail.com']);

/**
 * Common form of all spellings of a mailbox: case, forms of the same character, the ASCII form of the domain, and the part after a `+` in
 * the local part (RFC 5233), which most servers deliver to the same mailbox; at Gmail dots and the name of the domain too.
 */
export const mailboxOf = (email: string): string => {
  const text = email.trim().normalize('NFKC').toLowerCase();
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at).replace(/(?<=.)\+.*$/s, '');
  const domain = domainToASCII(text.slice(at + 1)) || text.slice(at + 1);
  return GMAIL.has(domain) ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`;
};
