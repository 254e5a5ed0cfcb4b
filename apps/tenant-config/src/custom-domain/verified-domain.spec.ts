import { describeNameClaim } from '@attestry/event-store';
import { isDisplaced, verifiedDomain } from './verified-domain.claim.js';

describeNameClaim(verifiedDomain, {
  name: ['acme.example'],
  stream: 'verifiedDomain-acme.example',
  claimed: 'VerifiedDomainClaimed',
  released: 'VerifiedDomainReleased',
  members: ['domain', 'verificationToken'],
  heldBy: ['verificationToken'],
  refusals: { taken: 'BadRequest', pending: 'BadRequest' },
});

describe('a verified domain', () => {
  it('moves from a holder whose token is no longer in the zone to the tenant whose token is', () => {
    const holder = { owner: 'a', verificationToken: 'a1' };
    const claimant = { owner: 'b', verificationToken: 'b1' };
    expect(isDisplaced(holder, claimant, ['v=spf1 -all', 'b1'])).toBe(true);
    for (const records of [['a1', 'b1'], ['a1'], [], ['b1 '], ['other']])
      expect(isDisplaced(holder, claimant, records)).toBe(false);
    expect(isDisplaced(holder, { owner: 'a', verificationToken: 'a2' }, ['a2'])).toBe(false);
  });
});
