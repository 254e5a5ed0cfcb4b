import type { Aggregate } from '@attestry/event-store';
import type { TypePublishedEvent } from './published-type.events.js';

/** The newest version. */
export type PublishedTypeState =
  { status: 'absent' } | ({ status: 'published'; version: number } & TypePublishedEvent['data']);

/** It outlives the configurations of the type, so that a later one continues its versions. */
export const publishedTypeStream = (tenantId: string, type: string): string => `publishedType-${tenantId}+${type}`;

const evolve = (state: PublishedTypeState, event: TypePublishedEvent): PublishedTypeState => {
  switch (event.type) {
    case 'TypePublished':
      return { status: 'published', version: state.status === 'published' ? state.version + 1 : 1, ...event.data };
  }
};

export const publishedType: Aggregate<PublishedTypeState, TypePublishedEvent> = {
  category: 'publishedType',
  isAuxiliary: true,
  initial: { status: 'absent' },
  types: { TypePublished: 1 },
  evolve,
};
