import { jsonSize } from './json-size.js';

const limits = { values: 10, depth: 3 };

describe('the size of JSON', () => {
  it.each<[unknown, number, number]>([
    ['x', 1, 1],
    [null, 1, 1],
    [{}, 1, 1],
    [[1, 2], 3, 2],
    [{ a: { b: 1 }, c: [] }, 4, 3],
  ])('of %j is %i values and depth %i', (value, values, depth) =>
    expect(jsonSize(value, limits)).toEqual({ values, depth }),
  );

  it('counts a value each time it occurs', () => {
    const shared = [1, 2, 3];
    expect(jsonSize([shared, shared], limits)).toEqual({ values: 9, depth: 3 });
  });

  it.each<[string, unknown, 'values' | 'depth']>([
    ['too many values', Array.from({ length: 10 }, () => 1), 'values'],
    ['too many levels', [[[1]]], 'depth'],
    ['too many values before too many levels', [Array.from({ length: 10 }, () => [[1]])], 'values'],
  ])('exceeds its limits with %s', (_, value, exceeds) => expect(jsonSize(value, limits)).toMatchObject({ exceeds }));

  it('is counted without recursion', () => {
    let value: unknown = 1;
    for (let i = 0; i < 200_000; i++) value = [value];
    expect(jsonSize(value, { values: 1_000_000, depth: 1_000_000 })).toEqual({ values: 200_001, depth: 200_001 });
  });
});
