import type { Aggregate } from '@attestry/event-store';
import type { OpenedList, StatusListEvent } from './status-list.events.js';

export type OpenStatusList = {
  status: 'open';
  /** First counter that is not claimed. */
  next: number;
  successorId?: string;
} & OpenedList;

/** Allocation of the indexes of a list. */
export type StatusListState = { status: 'absent' } | OpenStatusList;

export const statusListStream = (tenantId: string, listId: string): string => `statusList-${tenantId}+${listId}`;

const evolve = (state: StatusListState, { type, data }: StatusListEvent): StatusListState => {
  switch (type) {
    case 'StatusListOpened': {
      const { openedAt: _, ...list } = data;
      return { status: 'open', ...list, next: 0 };
    }
    case 'StatusIndexesClaimed':
      return state.status === 'open' ? { ...state, next: data.first + data.count } : state;
    case 'StatusListSuccessorNamed':
      return state.status === 'open' ? { ...state, successorId: data.listId } : state;
  }
};

export const statusList: Aggregate<StatusListState, StatusListEvent> = {
  category: 'statusList',
  isAuxiliary: true,
  initial: { status: 'absent' },
  types: { StatusListOpened: 1, StatusIndexesClaimed: 1, StatusListSuccessorNamed: 1 },
  evolve,
};
