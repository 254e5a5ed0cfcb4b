import type { Aggregate } from '@attestry/event-store';
import type { ConfiguredStatusLists, StatusListConfigurationsEvent } from './status-list-configurations.events.js';

/** Oldest first. */
export type StatusListConfigurationsState = readonly ConfiguredStatusLists[];

/** One stream per tenant: document types are unique, and their number is limited. */
export const statusListConfigurationsStream = (tenantId: string): string => `statusListConfigurations-${tenantId}`;

const evolve = (
  state: StatusListConfigurationsState,
  { type, data }: StatusListConfigurationsEvent,
): StatusListConfigurationsState => {
  switch (type) {
    case 'StatusListConfigurationCreated':
      return [...state, data];
    case 'StatusListConfigurationUpdated':
      return state.map((one) => (one.id === data.id ? { ...one, ...data } : one));
    case 'StatusListConfigurationDeleted':
      return state.filter(({ id }) => id !== data.id);
  }
};

export const statusListConfigurations: Aggregate<StatusListConfigurationsState, StatusListConfigurationsEvent> = {
  category: 'statusListConfigurations',
  initial: [],
  types: { StatusListConfigurationCreated: 1, StatusListConfigurationUpdated: 1, StatusListConfigurationDeleted: 1 },
  evolve,
};
