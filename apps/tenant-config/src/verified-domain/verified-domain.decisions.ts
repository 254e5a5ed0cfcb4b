import { AppError, unavailable } from '@attestry/contracts';
import type { VerifiedDomainEvent } from './verified-domain.events.js';
import type { VerifiedDomainState } from './verified-domain.state.js';

/** A claim this old whose owner does not have the domain verified belongs to a verification that failed half-way. */
export const ABANDONED_AFTER_MS = 60_000;

const verifiedElsewhere = (domain: string): AppError =>
  new AppError('invalid', 'Verification failed', {
    details: [{ value: domain, msg: 'another tenant has verified this domain', param: 'domain', location: 'body' }],
  });

/**
 * Names its holder by the token too: who deletes a domain and verifies it again holds another claim, which a late release
 * of the first does not end.
 * @param facts `ownerHolds`: whether the claim's owner has this domain verified with this token
 * @throws 400 while another tenant has it verified; 503 while another verification is under way
 */
export const claimVerifiedDomain = (
  state: VerifiedDomainState,
  command: { domain: string; owner: string; verificationToken: string },
  facts: { now: string; ownerHolds: boolean },
): VerifiedDomainEvent[] => {
  const claimed: VerifiedDomainEvent = { type: 'VerifiedDomainClaimed', data: { ...command, claimedAt: facts.now } };
  if (state.status === 'free') return [claimed];
  const { owner, verificationToken } = state;
  if (owner === command.owner && verificationToken === command.verificationToken) return [];
  if (owner !== command.owner) {
    if (facts.ownerHolds) throw verifiedElsewhere(command.domain);
    if (Date.parse(facts.now) - Date.parse(state.claimedAt) < ABANDONED_AFTER_MS)
      throw unavailable('Another tenant is verifying this domain');
  }
  return [{ type: 'VerifiedDomainReleased', data: { owner, verificationToken } }, claimed];
};

export const releaseVerifiedDomain = (
  state: VerifiedDomainState,
  { owner, verificationToken }: { owner: string; verificationToken: string },
): VerifiedDomainEvent[] =>
  state.status === 'claimed' && state.owner === owner && state.verificationToken === verificationToken
    ? [{ type: 'VerifiedDomainReleased', data: { owner, verificationToken } }]
    : [];
