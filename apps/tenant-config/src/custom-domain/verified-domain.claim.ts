import { AppError } from '@attestry/contracts';
import { nameClaim } from '@attestry/event-store';

/** What every verification but one gets, whether the others came before it or at the same time. */
export const verifiedElsewhere = (domain: string): AppError =>
  new AppError('invalid', 'Verification failed', {
    details: [{ value: domain, msg: 'another tenant has verified this domain', param: 'domain', location: 'body' }],
  });

/**
 * Which tenant a domain in lower case belongs to. `owner`: tenant id. The token with which the tenant proved it is part of the claim:
 * a domain that was deleted and verified again is another claim, which a late release of the first does not end.
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
