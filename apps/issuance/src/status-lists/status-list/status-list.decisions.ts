import { conflict, notFound } from '@attestry/contracts';
import type { OpenedList, StatusListEvent } from './status-list.events.js';
import type { StatusListState } from './status-list.state.js';

/** Limit of a tenant: lists that are neither full nor ended, each of which is signed again and again. */
export const MAX_OPEN_LISTS = 1000;
const SMALLEST_BLOCK = 64;
const LARGEST_BLOCK = 1024;
/** How long a block lasts at the claimer's rate: one append in that time, and a crash wastes the rest. */
const BLOCK_SECONDS = 10;

/** Idempotent: several replicas open the list that its predecessor names, and the first one decides. */
export const openList = (state: StatusListState, list: OpenedList, now: Date): StatusListEvent[] =>
  state.status === 'absent' ? [{ type: 'StatusListOpened', data: { ...list, openedAt: now.toISOString() } }] : [];

/**
 * Before a configuration whose credentials need a list.
 * @param first the first list of their series; absent while it is unknown
 * @throws AppError 409 when that list would be one too many
 */
export const checkOpenLists = (first: StatusListState | undefined, openLists: number): void => {
  if (first?.status === 'open' || openLists < MAX_OPEN_LISTS) return;
  throw conflict(
    `A tenant can have at most ${MAX_OPEN_LISTS} open status lists, and this configuration needs another one`,
  );
};

export interface BlockClaim {
  /** From `blockSize`. */
  count: number;
  /** Names the next list, when this claim leaves little of this one. */
  successorId: string;
}

/**
 * The next counters of a list, for one process. No events when all are claimed: then the state's `successorId` is the list to claim from.
 */
export const claimBlock = (state: StatusListState, claim: BlockClaim, now: Date): StatusListEvent[] => {
  if (state.status === 'absent') throw notFound();
  const { next, size, successorId } = state;
  if (next === size) return [];
  const count = Math.min(claim.count, size - next);
  const left = size - next - count;
  const isLow = left <= Math.max(size / 8, 2 * LARGEST_BLOCK);
  return [
    { type: 'StatusIndexesClaimed', data: { first: next, count, claimedAt: now.toISOString() } },
    ...(isLow && successorId === undefined
      ? [{ type: 'StatusListSuccessorNamed' as const, data: { listId: claim.successorId } }]
      : []),
  ];
};

/**
 * How many counters to claim.
 * @param used how many counters the claimer has used of its block, and since when; absent at its start, which claims little because
 * restarts waste what is left
 */
export const blockSize = (used: { count: number; since: Date } | undefined, now: Date): number => {
  if (!used) return SMALLEST_BLOCK;
  const seconds = Math.max(now.getTime() - used.since.getTime(), 1) / 1000;
  const count = Math.ceil((used.count / seconds) * BLOCK_SECONDS);
  return Math.min(Math.max(count, SMALLEST_BLOCK), LARGEST_BLOCK);
};
