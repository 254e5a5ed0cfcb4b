import type { StatusBits } from './packed-statuses.js';

/** Allocation of the indexes of a list. A status is an event of the credential's stream, and a row has the statuses of the list. */
export type StatusListEvent =
  | {
      type: 'StatusListOpened';
      data: {
        /** uuid */
        listId: string;
        /** Lists of one series follow each other: the first has the id of `firstListId`, and each names the next. */
        series: string;
        size: number;
        bits: StatusBits;
        /** Of the secret that permutes the counters, in the key vault. */
        secretKeyId: string;
        openedAt: string;
      };
    }
  /** One process uses the counters from `first` on; those that it does not use are wasted. */
  | { type: 'CounterBlockClaimed'; data: { first: number; count: number; claimedAt: string } }
  /** Before the successor is opened, so that all replicas open the same one. */
  | { type: 'SuccessorNamed'; data: { listId: string } };

export type OpenedList = Omit<Extract<StatusListEvent, { type: 'StatusListOpened' }>['data'], 'openedAt'>;
