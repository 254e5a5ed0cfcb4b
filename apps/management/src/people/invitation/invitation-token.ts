import { isUuid } from '@attestry/contracts';
import type { Macs, SecretMac } from '@attestry/keys';

const CONTEXT = 'invitation-link';

/** Content of a link: the invitation, its secret, whose MAC is in the invitation's event, and a MAC over all of it. */
export interface InvitationToken {
  tenantId: string;
  userId: string;
  invitationId: string;
  secret: string;
  /** Verified before any read. */
  seal: SecretMac;
}

const claimsOf = ({ tenantId, userId, invitationId, secret }: Omit<InvitationToken, 'seal'>): string =>
  [tenantId, userId, invitationId, secret].join('.');

/** @returns a token that {@link parseInvitationToken} and {@link isAuthentic} accept */
export const invitationToken = (macs: Macs, token: Omit<InvitationToken, 'seal'>): string => {
  const claims = claimsOf(token);
  const { pepper, mac } = macs.mac(claims, CONTEXT);
  return `${claims}.${pepper}.${mac}`;
};

/** Ids in a secret value are compared as they were issued, unlike those of requests. */
const isExactId = (text: unknown): text is string => isUuid(text) && text === text.toLowerCase();

/** `undefined` for text that is not in the form of a token. */
export const parseInvitationToken = (text: string): InvitationToken | undefined => {
  const [tenantId, userId, invitationId, secret, pepper, mac, ...rest] = text.split('.', 7);
  if (!isExactId(tenantId) || !isExactId(userId) || !isExactId(invitationId)) return undefined;
  if (secret === undefined || !isMac(secret) || !pepper || mac === undefined || !isMac(mac)) return undefined;
  return rest.length ? undefined : { tenantId, userId, invitationId, secret, seal: { pepper, mac } };
};

/** Whether this platform issued the token. */
export const isAuthentic = (macs: Macs, token: InvitationToken): boolean =>
  macs.verifyMac(claimsOf(token), token.seal, CONTEXT);

/** 256 bits in base64url: a secret, or a MAC. */
const isMac = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);
