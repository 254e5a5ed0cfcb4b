import type { KeptContextEvent } from './kept-context.events.js';
import type { KeptContextState } from './kept-context.state.js';

export const keepContext = (
  state: KeptContextState,
  command: { sha256: string; document: string },
): KeptContextEvent[] => (state.status === 'kept' ? [] : [{ type: 'ContextKept', data: command }]);
