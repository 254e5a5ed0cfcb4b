import { AppError } from '@attestry/contracts';
import { nameClaim } from '@attestry/event-store';

/** Error of every verification but one, earlier or concurrent. */
export const verifiedElsewhere = (domain: string): AppError =>
  new AppError('invalid', 'Verification failed', {
    details: [{ value: domain, msg: 'another tenant has verified this domain', param: 'domain', location: 'body' }],
  });

/**
 * The tenant that a domain in lower case belongs to. `owner`: tenant id. The token with which the tenant proved it is part of the claim: a
 * domain that was deleted and verified again is another claim, which a late release of the first does not end.
 */
export const verifiedDomain = nameClaim({
  category: 'verifiedDomain',
  claimed: 'VerifiedDomainClaimed',
  released: 'VerifiedDomainReleased',
  members: ['domain', 'verificationToken'],
  heldBy: ['verificationToken'],
  refusal: ({ domain }) => verifiedElsewhere(domain),
});

/**
 * Whether a verification may end the holder's: the zone is the authority, and its operator has replaced the holder's token by another
 * tenant's. With both tokens in the zone the holder keeps the domain (ADR 0051).
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
