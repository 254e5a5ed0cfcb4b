import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Aggregate, DomainEvent } from './aggregate.js';
import { CHAIN_START, chainEvent } from './chain.js';
import type { NewEvent } from './event-store.js';

// The store returns events without `undefined` members, dates as text.
const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Snapshots store only plain data: a class would lose its methods, and a function cannot be stored (ADR 0055). */
const assertPlainData = (value: unknown, what: string): void => {
  assert.ok(!['function', 'symbol'].includes(typeof value), `${what} is a ${typeof value}`);
  if (typeof value !== 'object' || value === null) return;
  const { name } = (Object.getPrototypeOf(value) as object).constructor;
  assert.ok(['Object', 'Array', 'Map', 'Set'].includes(name), `${what} is a ${name}`);
  const members =
    name === 'Map' || name === 'Set' ? [...(value as Map<unknown, unknown>)].flat() : Object.values(value);
  for (const member of members) assertPlainData(member, `${what}: a member`);
};

export interface Outcome<State, Event extends DomainEvent> {
  /** Exactly these events are decided, in this order. */
  then(events: readonly (Event & { id?: string })[]): void;
  /** The decision is refused with an error of this `code`. */
  thenThrows(code: string): void;
  /** The state after the given events and those decided. */
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
  assertPlainData(state, `${aggregate.category}: the state`);
  return state;
};

/**
 * `given(did, [created]).when((state) => deleteDid(state, command)).then([deleted])`. Events are compared in the form in which the store
 * returns them.
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
    /** The state after the given events alone. */
    thenState: (expected: State) => assert.deepStrictEqual(state, expected),
  };
}

type GivenMembers = Partial<Pick<NewEvent, 'id' | 'type' | 'data'>> & { occurredAt?: string; tenantId?: string };

/** The first event of a stream, for specs that write to stores. */
export const anEvent = ({
  occurredAt = '2026-01-02T03:04:05.678Z',
  tenantId = 't1',
  ...given
}: GivenMembers = {}): NewEvent =>
  chainEvent(CHAIN_START, {
    id: randomUUID(),
    type: 'Happened',
    schemaVersion: 1,
    data: {},
    ...given,
    metadata: {
      tenantId,
      requestId: 'r1',
      actor: 'service:test',
      operation: 'test',
      correlationId: 'r1',
      causationId: 'r1',
      occurredAt,
      partitionKey: 't1',
    },
  });
