import { shownName } from '../tenant/shown-name.js';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/**
 * The e-mail of an invitation: plain text, for every reader and nothing to disguise a link with.
 * @param link where it is accepted
 * @param expiresAt RFC 3339
 */
export const invitationMail = (
  to: string,
  { tenantName, link, expiresAt }: { tenantName: string; link: string; expiresAt: string },
): Mail => ({
  to,
  subject: `Invitation to ${shownName(tenantName)}`,
  text: [
    `You are invited to become a member of the tenant "${shownName(tenantName)}".`,
    '',
    'To accept, open this link and sign in:',
    '',
    link,
    '',
    `The link works once, until ${expiresAt.slice(0, 16).replace('T', ' ')} UTC.`,
    'If you did not expect this e-mail, you need not do anything.',
    '',
  ].join('\n'),
});
