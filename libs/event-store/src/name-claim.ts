import type { Aggregate } from './aggregate.js';

/** A claim this old whose owner was never created belongs to a creation that failed half-way (ADR 0009). */
export const ABANDONED_AFTER_MS = 60_000;

/** Why a claim is refused: the owner of the name exists, or may still be created. */
export type ClaimObstacle = 'taken' | 'pending';

/** Id of the owner, and the further members of the kind. */
export type Claimant<Member extends string = never> = { owner: string } & Record<Member, string>;

export interface ClaimFacts {
  /** RFC 3339. */
  now: string;
  /** Status of the current owner. Default `active`: its claim is valid. */
  ownerStatus?: 'absent' | 'active' | 'deleted';
  /** Owner whose claim is no longer valid, if it is still the owner. */
  replaces?: string | undefined;
}

/** Category and event types are stored: those of a kind never change. */
export interface NameClaimKind<Member extends string = never> {
  category: string;
  /** Event type. Its data are `owner`, `claimedAt` and `members`. */
  claimed: string;
  /** Event type, absent where a name is never released. Its data are `owner` and `heldBy`. */
  released?: string;
  members?: readonly Member[];
  /** Members that belong to the holder's identity: with another value, the same owner holds another claim. */
  heldBy?: readonly Member[];
  /**
   * Absent where nothing is refused, because callers use whichever owner the name has.
   * @param claimant with the members that the caller gives besides, which are not stored
   */
  refusal?: (claimant: Claimant<Member> & Readonly<Record<string, unknown>>, obstacle: ClaimObstacle) => Error;
}

export type NameClaimState<Member extends string = never> =
  { status: 'free' } | ({ status: 'claimed'; claimedAt: string } & Claimant<Member>);

export interface NameClaimEvent {
  type: string;
  data: { owner: string } & Readonly<Record<string, string>>;
}

export interface NameClaim<Member extends string = never> extends Aggregate<NameClaimState<Member>, NameClaimEvent> {
  /** @param name the parts of the name, in the order in which they are stored */
  stream(...name: readonly string[]): string;
  /**
   * Empty when the claimant holds the name, and when another owner keeps it and the kind refuses nothing.
   * @throws the refusal of the kind
   */
  claim(state: NameClaimState<Member>, claimant: Claimant<Member>, facts: ClaimFacts): NameClaimEvent[];
  /** Empty unless the claimant holds the name. */
  release(state: NameClaimState<Member>, claimant: Claimant<Member>): NameClaimEvent[];
  isHeldBy(state: NameClaimState<Member>, claimant: Claimant<Member>): boolean;
  /** @throws Error when the name is free */
  ownerOf(state: NameClaimState<Member>): string;
}

/** A name with at most one owner, in a separate stream (ADR 0009). */
export const nameClaim = <Member extends string = never>(kind: NameClaimKind<Member>): NameClaim<Member> => {
  const { category, claimed, released, members = [], heldBy = [], refusal } = kind;
  const pick = (claimant: Claimant<Member>, names: readonly Member[]): NameClaimEvent['data'] => ({
    ...Object.fromEntries(names.map((name) => [name, claimant[name]])),
    owner: claimant.owner,
  });
  const isHeldBy = (state: NameClaimState<Member>, claimant: Claimant<Member>): boolean =>
    state.status === 'claimed' && ['owner' as const, ...heldBy].every((name) => state[name] === claimant[name]);
  const release = (state: NameClaimState<Member>, claimant: Claimant<Member>): NameClaimEvent[] =>
    released !== undefined && isHeldBy(state, claimant) ? [{ type: released, data: pick(claimant, heldBy) }] : [];
  const obstacle = (claimedAt: string, { now, ownerStatus = 'active' }: ClaimFacts): ClaimObstacle | undefined => {
    if (ownerStatus === 'active') return 'taken';
    const isAbandoned = Date.parse(now) - Date.parse(claimedAt) >= ABANDONED_AFTER_MS;
    return ownerStatus === 'absent' && !isAbandoned ? 'pending' : undefined;
  };
  return {
    category,
    isAuxiliary: true,
    initial: { status: 'free' },
    types: { [claimed]: 1, ...(released !== undefined && { [released]: 1 }) },
    evolve: (_state, { type, data }) =>
      type === claimed ? ({ status: 'claimed', ...data } as NameClaimState<Member>) : { status: 'free' },
    stream: (...name) => `${category}-${name.join('+')}`,
    claim: (state, claimant, facts) => {
      const event = { type: claimed, data: { ...pick(claimant, members), claimedAt: facts.now } };
      if (state.status === 'free') return [event];
      if (isHeldBy(state, claimant)) return [];
      const isReplaced = state.owner === claimant.owner || state.owner === facts.replaces;
      const found = isReplaced ? undefined : obstacle(state.claimedAt, facts);
      if (!found) return [...release(state, state), event];
      if (refusal) throw refusal(claimant, found);
      return [];
    },
    release,
    isHeldBy,
    ownerOf: (state) => {
      if (state.status === 'free') throw new Error(`${category}: the name is free`);
      return state.owner;
    },
  };
};
