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

/** `undefined` for what never was a token. */
export const parseInvitationToken = (text: string): InvitationToken | undefined => {
  const [tenantId, userId, invitationId, secret, ...rest] = text.split('.');
  if (rest.length || !isUuid(tenantId) || !isUuid(userId) || !isUuid(invitationId)) return undefined;
  return secret !== undefined && /^[A-Za-z0-9_-]{43}$/.test(secret)
    ? { tenantId, userId, invitationId, secret }
    : undefined;
};
