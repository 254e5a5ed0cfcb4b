import { shownName } from '../../tenants/tenant/shown-name.js';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/**
 * The e-mail of an invitation: plain text, which every reader shows and which cannot disguise a link.
 * @param link where it is accepted
 * @param expiresAt RFC 3339
 */
export const invitationMail = (
  to: string,
  { tenantName, link, expiresAt }: { tenantName: string; link: string; expiresAt: string },
): Mail => ({
  to,
  subject: `Invitation to join ${shownName(tenantName)}`,
  text: [
    `You have been invited to become a member of "${shownName(tenantName)}".`,
    '',
    'To accept the invitation, open this link:',
    '',
    link,
    '',
    `The link can be used once and expires on ${expiresAt.slice(0, 10)} at ${expiresAt.slice(11, 16)} UTC.`,
    'If you did not expect this e-mail, you can ignore it.',
    '',
  ].join('\n'),
});
