import { untilTick } from './until-tick.js';

describe('the time until the next tick', () => {
  it.each([
    [2000, 0, 2000],
    [2000, 1, 1999],
    [2000, 1500, 500],
    [2000, 1501, 2499],
    [2000, 1999, 2001],
  ])('of %d ms at %d is %d', (interval, now, left) => {
    expect(untilTick(interval, undefined, 1_700_000_000_000 + now)).toBe(left);
  });
});
