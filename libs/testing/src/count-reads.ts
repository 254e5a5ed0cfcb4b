import type { EventStore, ReadStreamOptions, StreamName } from '@attestry/event-store';

/** How many events were read from single streams, by category. */
export interface ReadCount {
  /** Number of the category, or of all. */
  of(category?: string): number;
  reset(): void;
}

/** Counts what is read from single streams of a store from now on; subscriptions do not count. */
export const countReads = (store: EventStore): ReadCount => {
  const counts = new Map<string, number>();
  const read = store.readStream.bind(store);
  store.readStream = async (stream: StreamName, options?: ReadStreamOptions) => {
    const events = await read(stream, options);
    const category = stream.slice(0, stream.indexOf('-'));
    counts.set(category, (counts.get(category) ?? 0) + events.length);
    return events;
  };
  return {
    of: (category) =>
      category === undefined ? [...counts.values()].reduce((sum, one) => sum + one, 0) : (counts.get(category) ?? 0),
    reset: () => counts.clear(),
  };
};
