import { hash } from 'node:crypto';

/** Id of the first list of a series, derived so that all replicas open the same one (version 8, RFC 9562 §5.8). */
export const firstListId = (tenantId: string, series: string): string => {
  const digest = hash('sha256', `first status list of ${tenantId}: ${series}`);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
};
