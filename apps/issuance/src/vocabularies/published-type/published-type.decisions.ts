import type { TypePublishedEvent } from './published-type.events.js';
import type { PublishedTypeState } from './published-type.state.js';

type Describe = (vct: string) => Pick<TypePublishedEvent['data'], 'document' | 'integrity'>;

/**
 * Another version, with an address of its own, unless the newest one has this document.
 * @param describe the document of the type for a `vct`
 */
export const publishVersion = (
  state: PublishedTypeState,
  addressOf: (version: number) => string,
  describe: Describe,
): TypePublishedEvent[] => {
  if (state.status === 'published' && describe(state.vct).document === state.document) return [];
  const vct = addressOf(state.status === 'published' ? state.version + 1 : 1);
  return [{ type: 'TypePublished', data: { vct, ...describe(vct) } }];
};
