import { invalidBody, RESERVED_SUBDOMAINS, SUBDOMAIN_FAULT, SUBDOMAIN_PATTERN, unavailable } from '@attestry/contracts';
import type { SubdomainEvent } from './subdomain.events.js';
import type { SubdomainState } from './subdomain.state.js';

/** A claim this old whose owner was never created belongs to a creation that failed half-way (ADR 0009). */
export const ABANDONED_AFTER_MS = 60_000;

const taken = (subdomain: string) => invalidBody('subdomain', 'is already in use', subdomain);

/**
 * @param facts `ownerCreated`: whether the tenant that holds the claim was ever created, deleted ones included
 * @throws 400 on `subdomain`; 503 while another creation of the same name is in progress and its outcome unknown
 */
export const claimSubdomain = (
  state: SubdomainState,
  command: { environmentId: string; subdomain: string; owner: string },
  facts: { now: string; ownerCreated: boolean },
): SubdomainEvent[] => {
  const { subdomain, owner } = command;
  if (!SUBDOMAIN_PATTERN.test(subdomain)) throw invalidBody('subdomain', SUBDOMAIN_FAULT, subdomain);
  if (RESERVED_SUBDOMAINS.has(subdomain)) throw invalidBody('subdomain', 'is reserved', subdomain);
  const claimed: SubdomainEvent = { type: 'SubdomainClaimed', data: { ...command, claimedAt: facts.now } };
  if (state.status === 'free') return [claimed];
  if (state.owner === owner) return [];
  if (facts.ownerCreated) throw taken(subdomain);
  if (Date.parse(facts.now) - Date.parse(state.claimedAt) < ABANDONED_AFTER_MS)
    throw unavailable('Another request is creating a tenant with this subdomain');
  return [{ type: 'SubdomainReleased', data: { owner: state.owner } }, claimed];
};
