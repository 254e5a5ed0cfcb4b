import type { LinkedDomainEvent } from './linked-domain.events.js';
import type { LinkedDomainState } from './linked-domain.state.js';

/** Idempotent, and ignores events older than the last one: the feed delivers at least once. A tenant has one domain. */
export const recordDomainChange = (
  state: LinkedDomainState,
  { domain, revision, isVerified }: { domain: string; revision: number; isVerified: boolean },
): LinkedDomainEvent[] => {
  if (revision <= state.revision || (state.domain === domain) === isVerified) return [];
  return [{ type: isVerified ? 'DomainLinked' : 'DomainUnlinked', data: { domain, revision } }];
};

/**
 * Origins that the tenant's DIDs are linked with, for the requested host. At a custom domain only its own: a verifier ignores entries of
 * other origins there. At the tenant's own host also that of the custom domain, because tenants may copy the document from there.
 */
export const originsAt = (
  { publicUrl, baseUrl }: { publicUrl: string; baseUrl: string },
  { domain }: LinkedDomainState,
): string[] => {
  const [requested, own] = [new URL(publicUrl), new URL(baseUrl)];
  if (requested.host !== own.host) return [requested.origin];
  return domain === undefined ? [own.origin] : [own.origin, `${own.protocol}//${domain}`];
};
