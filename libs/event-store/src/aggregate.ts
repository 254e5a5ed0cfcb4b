import type { NewEvent, RecordedEvent, StreamName } from './event-store.js';

/** An event in the domain: a type and its data, without the store's members. */
export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}

/** Turns data written by an older schema version into the current one. One step per entry: `from` is the version read. */
export interface Upcaster {
  type: string;
  from: number;
  upcast(data: never): object;
}

/**
 * An aggregate: its stream category, its initial state and its pure `evolve`. `types` lists every event type that
 * `evolve` handles with its current schema version: a stored type outside the list was written by a newer release, and
 * a decision over such a stream answers 503 (ADR 0057).
 */
export interface Aggregate<State, Event extends DomainEvent> {
  readonly category: string;
  readonly initial: State;
  readonly types: Readonly<Record<Event['type'], number>>;
  evolve(state: State, event: Event): State;
  readonly upcasters?: readonly Upcaster[];
  /** The versions that release 0.2.0, the first, stored; absent: 1. No release stored a lower one, and none is read. */
  readonly lowestVersions?: Readonly<Partial<Record<Event['type'], number>>>;
  /** Its events prepare the effect of a call or clean up after it, and carry no record of the call (ADR 0072). */
  readonly isAuxiliary?: boolean;
}

/** The record of a call, stored in the metadata of the first event that is appended with it. */
export interface EventRecord {
  recordFor(stream: StreamName, event: DomainEvent): object;
  /** Set once an event holds it. */
  isStored: boolean;
}

/** Cause of a decision's events; becomes their metadata. */
export interface EventContext {
  tenantId: string;
  requestId: string;
  actor: string;
  operation: string;
  correlationId?: string;
  causationId?: string;
  traceparent?: string;
  partitionKey?: string;
  /** Id of a call that may be retried: all its runs have it as `correlationId`, so that events of an earlier run are found. */
  callId?: string;
  /** RFC 3339. Start of the first run: nothing was appended before. */
  callBeganAt?: string;
  /** Sequence of the copied feed message; see EventMetadata. */
  sourceSequence?: string;
  /** Absent for events without a call, and for those that are not its effect. */
  record?: EventRecord;
}

/** For events that are not the effect of the call. */
export const withoutRecord = ({ record: _, ...context }: EventContext): EventContext => context;

export interface Loaded<State> {
  state: State;
  /** -1 when the stream does not exist. */
  revision: number;
  /** Chain value of the last event, '' at the beginning. */
  chain: string;
  /** The state came from a cache and may be behind the stream: must not be the only ground of a refusal. */
  cached?: boolean;
}

export interface Decided<State, Event extends DomainEvent> extends Loaded<State> {
  /** The appended events; empty when the decision returned none. */
  events: Event[];
  recorded: NewEvent[];
  /** Position of the last event appended, absent without events. */
  position?: string;
}

/** A stream holds an event type or version that this release does not read. */
export class UnknownEventType extends Error {
  override readonly name = 'UnknownEventType';
  /** @param lowest version that a release stored, where the event has a lower one */
  constructor(
    readonly event: Pick<RecordedEvent, 'stream' | 'type' | 'schemaVersion'>,
    lowest?: number,
  ) {
    const why = lowest === undefined ? 'which this release does not know' : `but releases stored v${lowest} or later`;
    super(`${event.stream} holds ${event.type} v${event.schemaVersion}, ${why}`);
  }
}

/** Category and event types of an aggregate. */
export type Vocabulary = Pick<Aggregate<unknown, never>, 'category'> & {
  readonly types: Readonly<Record<string, number>>;
};

/**
 * For handlers of events by type, which would skip unknown ones.
 * @throws UnknownEventType for the first event that the aggregate of its stream does not list (ADR 0057)
 */
export const checkKnown = (
  aggregates: readonly Vocabulary[],
  events: readonly Pick<RecordedEvent, 'stream' | 'type' | 'schemaVersion'>[],
): void => {
  const types = new Map(aggregates.map((aggregate) => [aggregate.category, aggregate.types]));
  for (const event of events) {
    const version = types.get(event.stream.slice(0, event.stream.indexOf('-')))?.[event.type];
    if (version === undefined || event.schemaVersion > version) throw new UnknownEventType(event);
  }
};
