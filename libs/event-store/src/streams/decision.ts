import type { Aggregate, DomainEvent, EventContext, Loaded } from '../aggregate.js';
import type { StreamAppend, StreamName, UnitWrite } from '../event-store.js';
import type { Fence } from '../worker/lease-fence.js';

/** An event as a decision returns it. `id` fixes the event's id; without it `Ids` gives one. */
export type Decision<Event extends DomainEvent> = Event & { readonly id?: string };

/**
 * A decision: from the state to the events that follow, or throws to refuse. It may run several times for one
 * call, so it has no side effect.
 */
export type Decide<State, Event extends DomainEvent> = (
  state: State,
  loaded: Loaded<State>,
) => readonly Decision<Event>[] | Promise<readonly Decision<Event>[]>;

export interface LoadOptions {
  /** Use the cached state if there is one; `Loaded.cached` shows it. It may be behind the stream. */
  cached?: boolean;
  /** Remember that the stream does not exist. With `cached` that is used as a cached state is. */
  absence?: boolean;
}

export interface RunOptions extends LoadOptions {
  /**
   * For what a retried call must not do again (`EventContext.callId`): when an earlier run of it has appended to this stream, the decision
   * is not run and the events appended then are the outcome.
   */
  once?: boolean;
  /** Default 5. After this number of conflicts WrongExpectedRevision is thrown. */
  maxAttempts?: number;
  /** Writes that become durable together with the decided events; nothing when none are decided (ADR 0074). */
  unit?: CommandWrites;
  /** Runs directly before each append. Events decided under a lease: {@link leaseFence}. */
  fence?: Fence;
}

/** Writes of a command beside the events of its own decision. */
export interface CommandWrites {
  writes?: readonly UnitWrite[];
  further?: readonly FurtherDecision[];
}

/** A decision on another stream, stored with the one it belongs to. Its state is not cached. */
export interface FurtherDecision {
  readonly aggregate: Aggregate<unknown, DomainEvent>;
  readonly stream: StreamName;
  readonly load: Loaded<unknown> | (() => Promise<Loaded<unknown>>);
  readonly decide: Decide<unknown, DomainEvent>;
  readonly context: EventContext;
  /** The same events on every attempt, so that a store that has them returns its first result; `null`: nothing to append. */
  append?: StreamAppend | null | undefined;
}
