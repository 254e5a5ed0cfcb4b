import {
  ABANDONED_AFTER_MS,
  type Claimant,
  type ClaimFacts,
  type NameClaim,
  type NameClaimEvent,
} from './name-claim.js';
import { given } from './testing.js';

/** Stored names, which never change, and the refusals of a kind. */
export interface ExpectedNameClaim<Member extends string> {
  /** Parts of a name and its stream. */
  name: readonly string[];
  stream: string;
  claimed: string;
  /** Absent where a name is never released. */
  released?: string;
  /** Members of the claimed event besides `owner` and `claimedAt`. */
  members?: readonly Member[];
  heldBy?: readonly Member[];
  /** Codes of the refusals; absent where nothing is refused. */
  refusals?: { taken: string; pending: string };
}

const start = Date.parse('2026-03-01T10:00:00.000Z');
const at = (ms: number): string => new Date(start + ms).toISOString();

/** Behavior of every kind of name claim. */
export const describeNameClaim = <Member extends string = never>(
  kind: NameClaim<Member>,
  { name, stream, claimed, released, members = [], heldBy = [], refusals }: ExpectedNameClaim<Member>,
): void =>
  describe(`name claim: ${kind.category}`, () => {
    const claimant = (owner: string, value = 'v') =>
      ({ owner, ...Object.fromEntries(members.map((member) => [member, value])) }) as Claimant<Member>;
    const claimedBy = (owner: string, ms = 0, value = 'v'): NameClaimEvent => ({
      type: claimed,
      data: { ...claimant(owner, value), claimedAt: at(ms) },
    });
    const releasedBy = (owner: string, value = 'v'): NameClaimEvent[] =>
      released === undefined
        ? []
        : [{ type: released, data: { owner, ...Object.fromEntries(heldBy.map((member) => [member, value])) } }];
    const claim = (owner: string, ms: number, ownerStatus?: ClaimFacts['ownerStatus'], value = 'v') =>
      given(kind, [claimedBy('a')]).when((state) =>
        kind.claim(state, claimant(owner, value), { now: at(ms), ...(ownerStatus && { ownerStatus }) }),
      );
    const expectKept = (ms: number, ownerStatus: ClaimFacts['ownerStatus'], obstacle: 'taken' | 'pending') => {
      const outcome = claim('b', ms, ownerStatus);
      if (refusals) outcome.thenThrows(refusals[obstacle]);
      else outcome.then([]);
    };

    it('has the stream and the event types that are stored', () => {
      expect(kind.stream(...name)).toBe(stream);
      expect(stream.startsWith(`${kind.category}-`)).toBe(true);
      expect(kind.types).toEqual({ [claimed]: 1, ...(released !== undefined && { [released]: 1 }) });
    });

    it('assigns a free name to the first claimant, and stores no member that the kind does not declare', () => {
      const withMore = { ...claimant('a'), other: 'x' };
      given(kind, [])
        .when((state) => kind.claim(state, withMore, { now: at(0), ownerStatus: 'absent' }))
        .then([claimedBy('a')]);
    });

    it('appends nothing when the owner claims it again', () => claim('a', 5, 'active').then([]));

    it('names the owner', () => {
      given(kind, [claimedBy('a')]).thenState({ status: 'claimed', claimedAt: at(0), ...claimant('a') });
      expect(kind.ownerOf(kind.evolve(kind.initial, claimedBy('a')))).toBe('a');
      expect(() => kind.ownerOf(kind.initial)).toThrow(kind.category);
    });

    it('is valid while its owner exists, however old it is', () => {
      expectKept(1, 'active', 'taken');
      expectKept(1e12, 'active', 'taken');
      expectKept(1e12, undefined, 'taken');
    });

    it('is valid for a minute while its owner may still be created', () =>
      expectKept(ABANDONED_AFTER_MS - 1, 'absent', 'pending'));

    it('is taken over after a minute from an owner that was never created', () =>
      claim('b', ABANDONED_AFTER_MS, 'absent').then([...releasedBy('a'), claimedBy('b', ABANDONED_AFTER_MS)]));

    it('is taken over at once from a deleted owner', () => {
      claim('b', 1, 'deleted').then([...releasedBy('a'), claimedBy('b', 1)]);
      claim('b', 1, 'deleted').thenState({ status: 'claimed', claimedAt: at(1), ...claimant('b') });
    });

    it('is taken over at once from the owner that the caller replaces, and from no other', () => {
      const replace = (replaces: string) =>
        given(kind, [claimedBy('a')]).when((state) => kind.claim(state, claimant('b'), { now: at(1), replaces }));
      replace('a').then([...releasedBy('a'), claimedBy('b', 1)]);
      if (refusals) replace('c').thenThrows(refusals.taken);
      else replace('c').then([]);
    });

    it('is released only by its holder, if the kind has a release', () => {
      const release = (owner: string, value?: string) =>
        given(kind, [claimedBy('a')]).when((state) => kind.release(state, claimant(owner, value)));
      release('a').then(releasedBy('a'));
      release('b').then([]);
      if (heldBy.length > 0) release('a', 'w').then([]);
      given(kind, [])
        .when((state) => kind.release(state, claimant('a')))
        .then([]);
    });

    if (released !== undefined)
      it('is free again after a release', () =>
        given(kind, [claimedBy('a'), ...releasedBy('a')])
          .when((state) => kind.claim(state, claimant('b'), { now: at(5), ownerStatus: 'absent' }))
          .then([claimedBy('b', 5)]));

    if (heldBy.length > 0)
      it('is replaced at once by another claim of the same owner', () => {
        claim('a', 5, 'active', 'w').then([...releasedBy('a'), claimedBy('a', 5, 'w')]);
        const state = kind.evolve(kind.initial, claimedBy('a'));
        expect([kind.isHeldBy(state, claimant('a')), kind.isHeldBy(state, claimant('a', 'w'))]).toEqual([true, false]);
      });
  });
