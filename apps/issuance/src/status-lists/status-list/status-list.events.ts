import type { Sealed } from '@attestry/keys';
import type { ListSeries } from './list-series.js';

/** Allocation of the indexes of a list. A status is an event of the credential's stream, and a row has the statuses of the list. */
export type StatusListEvent =
  | {
      type: 'StatusListOpened';
      data: ListSeries & {
        /** uuid */
        listId: string;
        /** Address in credentials, `sub` of the tokens: the same for the lifetime of the list. */
        uri: string;
        /** The secret that permutes the counters, base64url, under a data key of its own. */
        sealedSecret: Sealed;
        openedAt: string;
      };
    }
  /** One process uses the counters from `first` on; those that it does not use are wasted. */
  | { type: 'StatusIndexesClaimed'; data: { first: number; count: number; claimedAt: string } }
  /** Before the successor is opened, so that all replicas open the same one. */
  | { type: 'StatusListSuccessorNamed'; data: { listId: string } };

export type OpenedList = Omit<Extract<StatusListEvent, { type: 'StatusListOpened' }>['data'], 'openedAt'>;
