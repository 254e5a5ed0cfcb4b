import { given as givenOf } from '@attestry/event-store';
import {
  ABANDONED_AFTER_MS,
  claimProvider,
  releaseProvider,
  type OwnerStatus,
} from './authentication-provider-claim.decisions.js';
import type { AuthenticationProviderClaimEvent } from './authentication-provider-claim.events.js';
import {
  authenticationProviderClaim,
  type AuthenticationProviderClaimState,
} from './authentication-provider-claim.state.js';

const start = Date.parse('2026-03-01T10:00:00.000Z');
const at = (ms: number) => new Date(start + ms).toISOString();
const given = (events: AuthenticationProviderClaimEvent[]) =>
  givenOf<AuthenticationProviderClaimState, AuthenticationProviderClaimEvent>(authenticationProviderClaim, events);
const claimed = (owner: string, ms = 0): AuthenticationProviderClaimEvent => ({
  type: 'AuthenticationProviderClaimed',
  data: { owner, claimedAt: at(ms) },
});
const released = (owner: string): AuthenticationProviderClaimEvent => ({
  type: 'AuthenticationProviderClaimReleased',
  data: { owner },
});
const claim = (owner: string, ms: number, status: OwnerStatus) => (state: AuthenticationProviderClaimState) =>
  claimProvider(state, { owner }, { now: at(ms), owner: status });

describe("the claim of a tenant's authentication provider", () => {
  it('is free at first and after a release', () => {
    given([])
      .when(claim('a', 0, 'absent'))
      .then([claimed('a')]);
    given([claimed('a'), released('a')])
      .when(claim('b', 5, 'absent'))
      .then([claimed('b', 5)]);
    given([claimed('a')])
      .when(claim('a', 5, 'absent'))
      .then([]);
  });

  it('is a conflict while its provider lives', () =>
    given([claimed('a')])
      .when(claim('b', 1e12, 'living'))
      .thenThrows('Conflict'));

  it('is taken over from a deleted provider at once, and from one never created after a minute', () => {
    given([claimed('a')])
      .when(claim('b', 1, 'deleted'))
      .then([released('a'), claimed('b', 1)]);
    given([claimed('a')])
      .when(claim('b', ABANDONED_AFTER_MS - 1, 'absent'))
      .thenThrows('ServiceUnavailable');
    given([claimed('a')])
      .when(claim('b', ABANDONED_AFTER_MS, 'absent'))
      .then([released('a'), claimed('b', ABANDONED_AFTER_MS)]);
  });

  it('is released by its owner only', () => {
    given([claimed('a')])
      .when((state) => releaseProvider(state, 'a'))
      .then([released('a')]);
    given([claimed('a')])
      .when((state) => releaseProvider(state, 'b'))
      .then([]);
  });
});
