import type { StoredContextEvent } from './stored-context.events.js';
import type { StoredContextState } from './stored-context.state.js';

export const keepContext = (
  state: StoredContextState,
  command: { sha256: string; document: string },
): StoredContextEvent[] => (state.status === 'kept' ? [] : [{ type: 'ContextStored', data: command }]);
