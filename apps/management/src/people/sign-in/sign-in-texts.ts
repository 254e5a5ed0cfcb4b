import type { UsedUp } from './attempts.js';
import type { DeadLink } from './invitation-lookup.js';

/** One message for an unknown account and for a wrong password. */
export const WRONG = 'The e-mail address or the password is wrong';

/** Reason, and the alternative to waiting. */
export const USED_UP: Record<UsedUp, string> = {
  account: 'Too many failed attempts for this account from browsers that have not signed in to it before',
  address: 'Too many failed attempts from your network',
  device: 'Too many failed attempts in this browser',
  link: 'Too many failed attempts with this link',
};

export const DEAD_LINKS: Record<DeadLink, { title: string; text: string; status: number }> = {
  unknown: {
    title: 'This link is not valid',
    text: 'Check that you opened the complete link from the e-mail. If you did, ask the sender for a new invitation.',
    status: 404,
  },
  used: {
    title: 'This invitation has already been used',
    text: 'An invitation can be accepted only once. If you accepted it, you are already a member.',
    status: 410,
  },
  expired: {
    title: 'This invitation has expired',
    text: 'Invitations expire after five days. Ask the sender for a new one.',
    status: 410,
  },
  replaced: {
    title: 'This invitation was replaced',
    text: 'A newer invitation was sent to you. Open the link in the latest e-mail.',
    status: 410,
  },
  withdrawn: {
    title: 'This invitation was withdrawn',
    text: 'If you think that this is a mistake, contact the person who invited you.',
    status: 410,
  },
};
