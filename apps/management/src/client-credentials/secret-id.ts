import { createHash } from 'node:crypto';
import type { SecretMac } from '@attestry/keys';

/**
 * What tokens name the secret by that they were issued for. From its MAC, so that secrets of older events have one too; a digest,
 * so that nothing about the MAC stands in a token.
 */
export const secretIdOf = ({ pepper, mac }: SecretMac): string =>
  createHash('sha256').update(`${pepper}.${mac}`).digest('base64url').slice(0, 22);
