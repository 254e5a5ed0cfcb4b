import { conflict, unavailable } from '@attestry/contracts';
import type { AuthenticationProviderClaimEvent } from './authentication-provider-claim.events.js';
import type { AuthenticationProviderClaimState } from './authentication-provider-claim.state.js';

/** A claim this old whose provider was never created belongs to a creation that failed half-way (ADR 0009). */
export const ABANDONED_AFTER_MS = 60_000;

export type OwnerStatus = 'absent' | 'living' | 'deleted';

/**
 * @param facts `owner`: what became of the provider that holds the claim
 * @throws 409 while the tenant has a provider; 503 while another creation is under way
 */
export const claimProvider = (
  state: AuthenticationProviderClaimState,
  command: { owner: string },
  facts: { now: string; owner: OwnerStatus },
): AuthenticationProviderClaimEvent[] => {
  const claimed: AuthenticationProviderClaimEvent = {
    type: 'AuthenticationProviderClaimed',
    data: { owner: command.owner, claimedAt: facts.now },
  };
  if (state.status === 'free') return [claimed];
  if (state.owner === command.owner) return [];
  if (facts.owner === 'living') throw conflict('The tenant already has an authentication provider');
  if (facts.owner === 'absent' && Date.parse(facts.now) - Date.parse(state.claimedAt) < ABANDONED_AFTER_MS)
    throw unavailable('Another request is creating an authentication provider');
  return [{ type: 'AuthenticationProviderClaimReleased', data: { owner: state.owner } }, claimed];
};

export const releaseProvider = (
  state: AuthenticationProviderClaimState,
  owner: string,
): AuthenticationProviderClaimEvent[] =>
  state.status === 'claimed' && state.owner === owner
    ? [{ type: 'AuthenticationProviderClaimReleased', data: { owner } }]
    : [];
