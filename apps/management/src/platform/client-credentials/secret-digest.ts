import { hash } from 'node:crypto';

/**
 * base64url SHA-256 of a management client's secret, which its MAC covers: a client can be registered with the digest alone. The secrets
 * have 256 bits and more: the digest reveals nothing about them.
 */
export const secretDigest = (secret: string): string => hash('sha256', secret, 'base64url');
