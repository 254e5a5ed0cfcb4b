import { hash } from 'node:crypto';

/**
 * base64url SHA-256 of a management client's secret: what its MAC is made over, so that a client can be registered by
 * whoever holds only the digest. The secrets have 256 bits and more: the digest tells nothing about them.
 */
export const secretDigest = (secret: string): string => hash('sha256', secret, 'base64url');
