import type { TypePublishedEvent } from './published-type.events.js';
import type { PublishedTypeState } from './published-type.state.js';

type Describe = (vct: string) => Pick<TypePublishedEvent['data'], 'document' | 'integrity'>;

/**
 * Another version, with an address of its own, unless the newest one has this document.
 * @param describe the document of the type for a `vct`
 * @param describeFormerly as an earlier release wrote it, where that is as good
 */
export const publishVersion = (
  state: PublishedTypeState,
  addressOf: (version: number) => string,
  describe: Describe,
  describeFormerly: Describe = describe,
): TypePublishedEvent[] => {
  if (state.status === 'published')
    for (const one of [describe, describeFormerly]) if (one(state.vct).document === state.document) return [];
  const vct = addressOf(state.status === 'published' ? state.version + 1 : 1);
  return [{ type: 'TypePublished', data: { vct, ...describe(vct) } }];
};
