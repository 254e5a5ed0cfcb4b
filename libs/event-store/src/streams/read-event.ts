import type { Aggregate, DomainEvent } from '../aggregate.js';
import { UnknownEventType } from '../aggregate.js';
import type { RecordedEvent } from '../event-store.js';

interface Reader {
  version: number;
  lowest: number;
  /** `steps[n]` turns version `lowest` + n into the next one. */
  steps: ((data: never) => object)[];
}

const readers = new WeakMap<object, Map<string, Reader>>();

const readersOf = (aggregate: Aggregate<never, never>): Map<string, Reader> => {
  let known = readers.get(aggregate);
  if (known) return known;
  known = new Map();
  for (const [type, version] of Object.entries<number>(aggregate.types)) {
    const lowest = (aggregate.lowestVersions as Record<string, number> | undefined)?.[type] ?? 1;
    const steps = Array.from({ length: version - lowest }, (_, index) => {
      const from = lowest + index;
      const step = aggregate.upcasters?.find((upcaster) => upcaster.type === type && upcaster.from === from);
      if (!step) throw new Error(`${aggregate.category}: no upcaster for ${type} v${from}`);
      return (data: never) => step.upcast(data);
    });
    known.set(type, { version, lowest, steps });
  }
  readers.set(aggregate, known);
  return known;
};

/**
 * A stored event for the domain: its type and its data in the current schema version.
 * @throws UnknownEventType when the aggregate does not list the type, or neither so new nor so old a version
 */
export function readEvent<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  stored: Pick<RecordedEvent, 'stream' | 'type' | 'schemaVersion' | 'data'>,
): Event {
  const reader = readersOf(aggregate as never).get(stored.type);
  if (!reader || stored.schemaVersion > reader.version) throw new UnknownEventType(stored);
  const { lowest, steps } = reader;
  if (!(stored.schemaVersion >= lowest)) throw new UnknownEventType(stored, lowest);
  let data = stored.data as object;
  for (let at = stored.schemaVersion - lowest; at < steps.length; at++) data = steps[at]!(data as never);
  return { type: stored.type, data } as Event;
}
