import { given } from '@attestry/event-store';
import { claimType, releaseType } from './type-claim.decisions.js';
import type { TypeClaimEvent } from './type-claim.events.js';
import { typeClaim, type TypeClaimState } from './type-claim.state.js';

const at = '2026-01-01T00:00:00.000Z';
const after = (seconds: number) => new Date(Date.parse(at) + seconds * 1000);
const claimed = (owner: string, claimedAt = at): TypeClaimEvent => ({
  type: 'CredentialTypeClaimed',
  data: { owner, claimedAt },
});
const claim =
  (owner: string, seconds: number, ownerStatus: 'absent' | 'active' | 'deleted') => (state: TypeClaimState) =>
    claimType(state, { owner, type: 'Membership' }, { now: after(seconds), ownerStatus });

describe('type claim', () => {
  it('gives a free type to the first who asks', () =>
    given(typeClaim, [])
      .when(claim('a', 0, 'absent'))
      .then([claimed('a')]));

  it('says nothing twice to the owner', () =>
    given(typeClaim, [claimed('a')])
      .when(claim('a', 5, 'absent'))
      .then([]));

  it('refuses a type whose configuration lives', () =>
    given(typeClaim, [claimed('a')])
      .when(claim('b', 86_400, 'active'))
      .thenThrows('BadRequest'));

  it('refuses for a minute while the owner may still be created', () =>
    given(typeClaim, [claimed('a')])
      .when(claim('b', 59.999, 'absent'))
      .thenThrows('BadRequest'));

  it('lets the claim of an owner that never was be taken over after a minute', () =>
    given(typeClaim, [claimed('a')])
      .when(claim('b', 60, 'absent'))
      .then([claimed('b', after(60).toISOString())]));

  it('lets the claim of a deleted owner be taken over at once', () =>
    given(typeClaim, [claimed('a')])
      .when(claim('b', 1, 'deleted'))
      .then([claimed('b', after(1).toISOString())]));

  it('is released by its owner and nobody else', () => {
    given(typeClaim, [claimed('a')])
      .when((state) => releaseType(state, 'b'))
      .then([]);
    given(typeClaim, [claimed('a')])
      .when((state) => releaseType(state, 'a'))
      .thenState({ status: 'free' });
  });
});
