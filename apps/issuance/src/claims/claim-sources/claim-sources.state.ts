import type { Aggregate } from '@attestry/event-store';
import type { ClaimSourcesEvent, ConfiguredSource } from './claim-sources.events.js';

/** Oldest first. */
export type ClaimSourcesState = readonly ConfiguredSource[];

/** One stream per tenant: the number of sources is limited. */
export const claimSourcesStream = (tenantId: string): string => `claimSources-${tenantId}`;

const evolve = (state: ClaimSourcesState, { type, data }: ClaimSourcesEvent): ClaimSourcesState => {
  switch (type) {
    case 'ClaimSourceCreated':
      return [...state, data];
    case 'ClaimSourceUpdated':
      return state.map((one) => (one.id === data.id ? data : one));
    case 'ClaimSourceDeleted':
      return state.filter(({ id }) => id !== data.id);
  }
};

export const claimSources: Aggregate<ClaimSourcesState, ClaimSourcesEvent> = {
  category: 'claimSources',
  initial: [],
  types: { ClaimSourceCreated: 1, ClaimSourceUpdated: 1, ClaimSourceDeleted: 1 },
  evolve,
};
