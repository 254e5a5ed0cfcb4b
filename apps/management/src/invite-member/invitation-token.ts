import { isUuid } from '@attestry/contracts';

/** What a link carries: where the invitation stands, and the secret whose MAC stands there. */
export interface InvitationToken {
  tenantId: string;
  userId: string;
  invitationId: string;
  secret: string;
}

export const invitationToken = ({ tenantId, userId, invitationId, secret }: InvitationToken): string =>
  [tenantId, userId, invitationId, secret].join('.');

/** Ids of a secret value are compared as they were given out, unlike those of requests. */
const isExactId = (text: unknown): text is string => isUuid(text) && text === text.toLowerCase();

/** `undefined` for what never was a token. */
export const parseInvitationToken = (text: string): InvitationToken | undefined => {
  const [tenantId, userId, invitationId, secret, ...rest] = text.split('.');
  if (rest.length || !isExactId(tenantId) || !isExactId(userId) || !isExactId(invitationId)) return undefined;
  return secret !== undefined && /^[A-Za-z0-9_-]{43}$/.test(secret)
    ? { tenantId, userId, invitationId, secret }
    : undefined;
};
