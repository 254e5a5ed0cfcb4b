import type { Aggregate } from './aggregate.js';
import { given } from './testing.js';

type Event = { type: 'Switched'; data: { on: boolean } };
const lamp: Aggregate<{ on: boolean }, Event> = {
  category: 'lamp',
  initial: { on: false },
  types: { Switched: 1 },
  evolve: (_, event) => ({ on: event.data.on }),
};
const switched = (on: boolean): Event => ({ type: 'Switched', data: { on } });
const toggle = (state: { on: boolean }) => [switched(!state.on)];
const refuse = () => {
  throw Object.assign(new Error('no'), { code: 'Conflict' });
};

describe('given, when, then', () => {
  it('passes when the expectation holds', () => {
    given(lamp, [switched(true)])
      .when(toggle)
      .then([switched(false)]);
    given(lamp, [switched(true)])
      .when(toggle)
      .thenState({ on: false });
    given(lamp, []).when(refuse).thenThrows('Conflict');
    given(lamp, [switched(true)]).thenState({ on: true });
  });

  it('fails when it does not', () => {
    expect(() => given(lamp, []).when(toggle).then([])).toThrow();
    expect(() =>
      given(lamp, [])
        .when(toggle)
        .then([switched(false)]),
    ).toThrow();
    expect(() => given(lamp, []).when(toggle).thenThrows('Conflict')).toThrow();
    expect(() => given(lamp, []).when(refuse).thenThrows('NotFound')).toThrow('refused with');
    expect(() => given(lamp, []).when(toggle).thenState({ on: false })).toThrow();
  });

  it.each([
    ['a class', new Date(0), 'the state: a member is a Date'],
    ['a function', () => true, 'the state: a member is a function'],
    ['one of them in a map', new Map([['at', [new Date(0)]]]), 'is a Date'],
  ])('fails when a snapshot would change the state: %s', (_, kept, message) => {
    const lossy = { ...lamp, evolve: () => ({ on: true, kept }) };
    expect(() => given(lossy, [switched(true)])).toThrow(message);
  });

  it('accepts objects, arrays, maps and sets', () => {
    const state = { on: true, maps: new Map([['a', new Set(['b'])]]), list: [null, 1, undefined] };
    given({ ...lamp, evolve: () => state }, [switched(true)]).thenState(state);
  });
});
