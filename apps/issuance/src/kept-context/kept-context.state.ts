import type { Aggregate } from '@attestry/event-store';
import type { KeptContextEvent } from './kept-context.events.js';

export type KeptContextState = { status: 'absent' } | { status: 'kept'; sha256: string; document: string };

/** Shared by all tenants: the same document is kept once. */
export const keptContextStream = (sha256: string): string => `context-${sha256}`;

const evolve = (_state: KeptContextState, event: KeptContextEvent): KeptContextState => {
  switch (event.type) {
    case 'ContextKept':
      return { status: 'kept', sha256: event.data.sha256, document: event.data.document };
  }
};

export const keptContext: Aggregate<KeptContextState, KeptContextEvent> = {
  category: 'context',
  initial: { status: 'absent' },
  types: { ContextKept: 1 },
  evolve,
};
