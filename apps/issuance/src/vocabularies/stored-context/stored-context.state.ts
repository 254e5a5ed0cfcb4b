import type { Aggregate } from '@attestry/event-store';
import type { StoredContextEvent } from './stored-context.events.js';

export type StoredContextState = { status: 'absent' } | { status: 'kept'; sha256: string; document: string };

/** Shared by all tenants: the same document is kept once. */
export const storedContextStream = (sha256: string): string => `context-${sha256}`;

const evolve = (_state: StoredContextState, event: StoredContextEvent): StoredContextState => {
  switch (event.type) {
    case 'ContextStored':
      return { status: 'kept', sha256: event.data.sha256, document: event.data.document };
  }
};

export const storedContext: Aggregate<StoredContextState, StoredContextEvent> = {
  category: 'context',
  isAuxiliary: true,
  initial: { status: 'absent' },
  types: { ContextStored: 1 },
  evolve,
};
