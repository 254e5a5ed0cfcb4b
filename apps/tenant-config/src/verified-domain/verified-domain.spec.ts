import { given } from '@attestry/event-store';
import {
  ABANDONED_AFTER_MS,
  claimVerifiedDomain,
  isDisplaced,
  releaseVerifiedDomain,
} from './verified-domain.decisions.js';
import type { VerifiedDomainEvent } from './verified-domain.events.js';
import { verifiedDomain, verifiedDomainStream, type VerifiedDomainState } from './verified-domain.state.js';

const start = Date.parse('2026-03-01T10:00:00.000Z');
const at = (ms: number) => new Date(start + ms).toISOString();
const domain = 'acme.example';
const claimed = (owner: string, verificationToken: string, ms = 0): VerifiedDomainEvent => ({
  type: 'VerifiedDomainClaimed',
  data: { domain, owner, verificationToken, claimedAt: at(ms) },
});
const released = (owner: string, verificationToken: string): VerifiedDomainEvent => ({
  type: 'VerifiedDomainReleased',
  data: { owner, verificationToken },
});
const claim =
  (owner: string, verificationToken: string, { ms = 0, ownerHolds = false } = {}) =>
  (state: VerifiedDomainState) =>
    claimVerifiedDomain(state, { domain, owner, verificationToken }, { now: at(ms), ownerHolds });

describe('the claim of a verified domain', () => {
  it('is made when the domain is free, also after it was released', () => {
    given(verifiedDomain, [])
      .when(claim('a', 'a1'))
      .then([claimed('a', 'a1')]);
    given(verifiedDomain, [claimed('a', 'a1'), released('a', 'a1')])
      .when(claim('b', 'b1', { ms: 5 }))
      .then([claimed('b', 'b1', 5)]);
  });

  it('is made once for the same token, and anew for another one of the same tenant', () => {
    given(verifiedDomain, [claimed('a', 'a1')])
      .when(claim('a', 'a1', { ms: 5, ownerHolds: true }))
      .then([]);
    given(verifiedDomain, [claimed('a', 'a1')])
      .when(claim('a', 'a2', { ms: 5 }))
      .then([released('a', 'a1'), claimed('a', 'a2', 5)]);
  });

  it('stands against others while its owner has the domain verified, however long ago', () => {
    given(verifiedDomain, [claimed('a', 'a1')])
      .when(claim('b', 'b1', { ms: 1e12, ownerHolds: true }))
      .thenThrows('BadRequest');
  });

  it('is taken over from who did not verify within a minute, not before', () => {
    given(verifiedDomain, [claimed('a', 'a1')])
      .when(claim('b', 'b1', { ms: ABANDONED_AFTER_MS - 1 }))
      .thenThrows('BadRequest');
    given(verifiedDomain, [claimed('a', 'a1')])
      .when(claim('b', 'b1', { ms: ABANDONED_AFTER_MS }))
      .then([released('a', 'a1'), claimed('b', 'b1', ABANDONED_AFTER_MS)]);
  });

  it('ends for a holder whose token the zone has no more, once it has the one of another tenant', () => {
    const holder = { owner: 'a', verificationToken: 'a1' };
    const claimant = { owner: 'b', verificationToken: 'b1' };
    expect(isDisplaced(holder, claimant, ['v=spf1 -all', 'b1'])).toBe(true);
    for (const records of [['a1', 'b1'], ['a1'], [], ['b1 '], ['other']])
      expect(isDisplaced(holder, claimant, records)).toBe(false);
    expect(isDisplaced(holder, { owner: 'a', verificationToken: 'a2' }, ['a2'])).toBe(false);
  });

  it('is released by who holds it with that token, and by nobody else', () => {
    const release = (owner: string, verificationToken: string) => (state: VerifiedDomainState) =>
      releaseVerifiedDomain(state, { owner, verificationToken });
    given(verifiedDomain, [claimed('a', 'a1')])
      .when(release('a', 'a1'))
      .then([released('a', 'a1')]);
    for (const [owner, token] of [
      ['a', 'a0'],
      ['b', 'a1'],
    ] as const)
      given(verifiedDomain, [claimed('a', 'a1')])
        .when(release(owner, token))
        .then([]);
    given(verifiedDomain, []).when(release('a', 'a1')).then([]);
  });

  it('has one stream a domain', () => expect(verifiedDomainStream(domain)).toBe('verifiedDomain-acme.example'));
});
