import { randomSecret, type Macs } from '@attestry/keys';

/**
 * Nonces are stateless (ADR 0059): `<end of life, milliseconds in base 36>.<128 random bits>.<pepper>.<MAC>`, the
 * MAC bound to use and tenant. Single use of a c_nonce is the replay guard's; a DPoP nonce may be used until it expires (RFC 9449 §8).
 */
export type NonceUse = 'c_nonce' | 'dpop_nonce' | 'attestation_challenge';

const FORM = /^([0-9a-z]{1,11}\.[A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})$/;

export const makeNonce = (macs: Macs, tenantId: string, expiresAt: Date, use: NonceUse = 'c_nonce'): string => {
  const content = `${expiresAt.getTime().toString(36)}.${randomSecret(16)}`;
  const { pepper, mac } = macs.mac(content, `${use}:${tenantId}`);
  return `${content}.${pepper}.${mac}`;
};

export interface KnownNonce {
  /** The signed part, which is spent. */
  id: string;
  expiresAt: Date;
}

/** `undefined` when this tenant never issued it. */
export const verifyNonce = (
  macs: Macs,
  tenantId: string,
  nonce: string,
  use: NonceUse = 'c_nonce',
): KnownNonce | undefined => {
  const parts = FORM.exec(nonce);
  if (!parts) return undefined;
  const [, id, pepper, mac] = parts as unknown as [string, string, string, string];
  if (!macs.verifyMac(id, { pepper, mac }, `${use}:${tenantId}`)) return undefined;
  // `parseInt` stops at the dot.
  return { id, expiresAt: new Date(Number.parseInt(id, 36)) };
};
