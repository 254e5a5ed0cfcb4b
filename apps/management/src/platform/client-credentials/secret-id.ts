import { createHash } from 'node:crypto';
import type { SecretMac } from '@attestry/keys';

/**
 * Names in a token the secret that it was issued for. Derived from its MAC, so that secrets of older events have one too; a digest, so that
 * a token reveals nothing about the MAC.
 */
export const secretIdOf = ({ pepper, mac }: SecretMac): string =>
  createHash('sha256').update(`${pepper}.${mac}`).digest('base64url').slice(0, 22);
