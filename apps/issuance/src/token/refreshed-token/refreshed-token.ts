import type { Macs } from '@attestry/keys';

/**
 * Access token from a refresh: `<base64url of JSON>.<pepper>.<MAC>`, the MAC bound to the tenant. Nothing of it is stored; it ends with the
 * epoch of its family (ADR 0090).
 */
export interface RefreshedToken {
  familyId: string;
  /** uuid; in the records of credentials. */
  tokenId: string;
  epoch: number;
  expiresAt: Date;
  /** Thumbprint of the DPoP key that it is bound to. */
  jkt?: string;
  /** Covered identifiers or entries of the session, by index; undefined: all. */
  covered?: number[];
}

type Content = [
  familyId: string,
  tokenId: string,
  epoch: number,
  expiresAt: number,
  jkt: string | 0,
  covered?: number[],
];

const FORM = /^([A-Za-z0-9_-]{1,8192})\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})$/;
const contextOf = (tenantId: string): string => `refreshedAccess:${tenantId}`;

export const makeRefreshedToken = (macs: Pick<Macs, 'mac'>, tenantId: string, token: RefreshedToken): string => {
  const { familyId, tokenId, epoch, expiresAt, jkt = 0, covered } = token;
  const content: Content = [familyId, tokenId, epoch, expiresAt.getTime(), jkt, ...(covered ? [covered] : [])] as never;
  const text = Buffer.from(JSON.stringify(content)).toString('base64url');
  const { pepper, mac } = macs.mac(text, contextOf(tenantId));
  return `${text}.${pepper}.${mac}`;
};

/** `undefined` when this tenant never issued it; whether it is still valid is not checked. */
export const readRefreshedToken = (
  macs: Pick<Macs, 'verifyMac'>,
  tenantId: string,
  value: string,
): RefreshedToken | undefined => {
  const [, text, pepper, mac] = FORM.exec(value) ?? [];
  if (text === undefined || !macs.verifyMac(text, { pepper: pepper!, mac: mac! }, contextOf(tenantId)))
    return undefined;
  const [familyId, tokenId, epoch, expiresAt, jkt, covered] = JSON.parse(
    Buffer.from(text, 'base64url').toString(),
  ) as Content;
  return {
    ...{ familyId, tokenId, epoch, expiresAt: new Date(expiresAt) },
    ...(jkt !== 0 && { jkt }),
    ...(covered && { covered }),
  };
};
