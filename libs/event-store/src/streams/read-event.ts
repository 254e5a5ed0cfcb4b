import type { Aggregate, DomainEvent } from '../aggregate.js';
import { UnknownEventType } from '../aggregate.js';
import type { RecordedEvent } from '../event-store.js';

interface Reader {
  version: number;
  /** `steps[n]` turns version n + 1 into n + 2. */
  steps: ((data: never) => object)[];
}

const readers = new WeakMap<object, Map<string, Reader>>();

const readersOf = (aggregate: Aggregate<never, never>): Map<string, Reader> => {
  let known = readers.get(aggregate);
  if (known) return known;
  known = new Map();
  for (const [type, version] of Object.entries<number>(aggregate.types)) {
    const steps = Array.from({ length: version - 1 }, (_, index) => {
      const step = aggregate.upcasters?.find((upcaster) => upcaster.type === type && upcaster.from === index + 1);
      if (!step) throw new Error(`${aggregate.category}: no upcaster for ${type} v${index + 1}`);
      return (data: never) => step.upcast(data);
    });
    known.set(type, { version, steps });
  }
  readers.set(aggregate, known);
  return known;
};

/**
 * A stored event for the domain: its type and its data in the current schema version.
 * @throws UnknownEventType when the aggregate lists neither the type nor so new a version
 */
export function readEvent<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  stored: Pick<RecordedEvent, 'stream' | 'type' | 'schemaVersion' | 'data'>,
): Event {
  const reader = readersOf(aggregate as never).get(stored.type);
  if (!reader || stored.schemaVersion > reader.version || !(stored.schemaVersion >= 1))
    throw new UnknownEventType(stored);
  let data = stored.data as object;
  for (let from = stored.schemaVersion; from < reader.version; from++) data = reader.steps[from - 1]!(data as never);
  return { type: stored.type, data } as Event;
}
