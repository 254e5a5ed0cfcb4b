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
  it('passes what holds', () => {
    given(lamp, [switched(true)])
      .when(toggle)
      .then([switched(false)]);
    given(lamp, [switched(true)])
      .when(toggle)
      .thenState({ on: false });
    given(lamp, []).when(refuse).thenThrows('Conflict');
    given(lamp, [switched(true)]).thenState({ on: true });
  });

  it('fails what does not', () => {
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
});
