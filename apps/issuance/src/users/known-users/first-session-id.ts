import { hash } from 'node:crypto';

const TIME_AND_VERSION = 15;

/**
 * Id of the session that a new user begins with, derived from the user's id: the offer is found from the user without an index (ADR 0071).
 * Time and version are those of the user's id (RFC 9562 §5.7), so that ids remain in the order of their creation.
 */
export const firstSessionId = (userId: string): string => {
  const digest = hash('sha256', `first session of ${userId}`);
  return `${userId.slice(0, TIME_AND_VERSION)}${digest.slice(0, 3)}-a${digest.slice(3, 6)}-${digest.slice(6, 18)}`;
};
