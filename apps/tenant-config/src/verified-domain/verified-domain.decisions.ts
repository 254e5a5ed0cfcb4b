import { AppError } from '@attestry/contracts';
import type { VerifiedDomainEvent } from './verified-domain.events.js';
import type { VerifiedDomainState } from './verified-domain.state.js';

/** A claim this old whose owner does not have the domain verified belongs to a verification that failed half-way. */
export const ABANDONED_AFTER_MS = 60_000;

/** What every verification but one gets, whether the others came before it or at the same time. */
export const verifiedElsewhere = (domain: string): AppError =>
  new AppError('invalid', 'Verification failed', {
    details: [{ value: domain, msg: 'another tenant has verified this domain', param: 'domain', location: 'body' }],
  });

/**
 * Whether a verification may end the holder's: the zone is the authority, and who controls it has put another tenant's token in
 * the place of the holder's. With both tokens in the zone the holder keeps the domain (ADR 0051).
 * @param records TXT values at the domain, looked up after the holder was read
 */
export const isDisplaced = (
  holder: { owner: string; verificationToken: string },
  claimant: { owner: string; verificationToken: string },
  records: readonly string[],
): boolean =>
  holder.owner !== claimant.owner &&
  records.includes(claimant.verificationToken) &&
  !records.includes(holder.verificationToken);

/**
 * Names its holder by the token too: who deletes a domain and verifies it again holds another claim, which a late release
 * of the first does not end.
 * @param facts `ownerHolds`: whether the claim's owner has this domain verified with this token
 * @throws 400 while another tenant has it verified, or is verifying it
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
    const isAbandoned = Date.parse(facts.now) - Date.parse(state.claimedAt) >= ABANDONED_AFTER_MS;
    if (facts.ownerHolds || !isAbandoned) throw verifiedElsewhere(command.domain);
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
