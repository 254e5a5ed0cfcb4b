import assert from 'node:assert/strict';
import { deserialize, serialize } from 'node:v8';
import type { Aggregate, DomainEvent } from './aggregate.js';

// As the store gives them back: without `undefined` members, dates as text.
const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

export interface Outcome<State, Event extends DomainEvent> {
  /** Exactly these events are decided, in this order. */
  then(events: readonly (Event & { id?: string })[]): void;
  /** The decision is refused with an error of this `code`. */
  thenThrows(code: string): void;
  /** The state after the events given and those decided. */
  thenState(state: State): void;
}

/** The state after some events. */
export const stateAfter = <State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  events: readonly Event[],
): State => {
  const state = events.reduce<State>((before, event) => {
    assert.ok(Object.hasOwn(aggregate.types, event.type), `${aggregate.category}: ${event.type} is not in types`);
    return aggregate.evolve(before, event);
  }, aggregate.initial);
  assert.deepStrictEqual(
    deserialize(serialize(state)),
    state,
    `${aggregate.category}: a snapshot would change the state`,
  );
  return state;
};

/**
 * `given(did, [created]).when((state) => deleteDid(state, command)).then([deleted])`. Events are compared in the form
 * the store gives them back.
 */
export function given<State, Event extends DomainEvent>(aggregate: Aggregate<State, Event>, events: readonly Event[]) {
  const state = stateAfter(aggregate, stored(events));
  return {
    when(decide: (state: State) => readonly (Event & { id?: string })[]): Outcome<State, Event> {
      return {
        then: (expected) => assert.deepStrictEqual(stored(decide(state)), stored(expected)),
        thenThrows: (code) =>
          assert.throws(
            () => decide(state),
            (error) => {
              assert.equal((error as { code?: unknown }).code, code, `refused with ${String(error)}`);
              return true;
            },
          ),
        thenState: (expected) =>
          assert.deepStrictEqual(stateAfter(aggregate, [...stored(events), ...stored(decide(state))]), expected),
      };
    },
    /** The state after the events given alone. */
    thenState: (expected: State) => assert.deepStrictEqual(state, expected),
  };
}
