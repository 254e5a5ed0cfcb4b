import { hasValue, searchValues } from './search-values.js';

const textsOf = (claims: object, max = 100) =>
  searchValues('claims', claims, max).map(({ path, text }) => [path.join(' '), text]);

describe('the values of claims', () => {
  it('are those of nested members, while arrays and empty objects are compared as a whole', () =>
    expect(
      textsOf({
        address: { locality: 'Köln', geo: { lat: 50.9, lon: 1e21 } },
        name: 'Ada "x"',
        member: true,
        left: null,
        list: [{ b: 1, a: [2] }, 'x'],
        none: [],
        empty: {},
      }),
    ).toEqual([
      ['claims name', '"Ada \\"x\\""'],
      ['claims member', 'true'],
      ['claims left', 'null'],
      ['claims list', '[{"a":[2],"b":1},"x"]'],
      ['claims none', '[]'],
      ['claims empty', '{}'],
      ['claims address locality', '"Köln"'],
      ['claims address geo lat', '50.9'],
      ['claims address geo lon', '1e+21'],
    ]));

  it('have a text whatever a provider or an interaction hook returned [T480]', () => {
    const list = [{ b: '\ud800', '\udfff': 1 }, 1e999];
    expect(textsOf({ list, text: '\ud800' })).toEqual([
      ['claims list', '[{"b":"\\ud800","\\udfff":1},null]'],
      ['claims text', '"\\ud800"'],
    ]);
    expect(searchValues('claims', { list }, 1).every((value) => hasValue({ claims: { list } }, value))).toBe(true);
  });

  it('are bounded, outermost ones first', () => {
    expect(textsOf({ a: { deep: 1 }, b: 2, c: 3 }, 2)).toEqual([
      ['claims b', '2'],
      ['claims c', '3'],
    ]);
    expect(textsOf({ a: { deep: 1 }, b: 2 }, 2)).toHaveLength(2);
    expect(textsOf({}, 1)).toEqual([]);
  });

  it('distinguish names that look alike when they are joined', () => {
    const [one] = searchValues('claims', { 'a.b': 1 }, 9);
    const [other] = searchValues('claims', { a: { b: 1 } }, 9);
    expect([hasValue({ claims: { a: { b: 1 } } }, one!), hasValue({ claims: { 'a.b': 1 } }, other!)]).toEqual([
      false,
      false,
    ]);
  });
});

it.each<[object, object, boolean]>([
  [{ a: 1, b: 2 }, { a: 1 }, true],
  [{ a: 1 }, { a: '1' }, false],
  [{ a: 'x' }, { a: 'X' }, false],
  [{ a: null }, { a: null }, true],
  [{}, { a: null }, false],
  [{ a: [1, 2] }, { a: [1, 2] }, true],
  [{ a: [1, 2] }, { a: [1] }, false],
  [{ a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] }, true],
  [{ a: {} }, { a: {} }, true],
  [{ a: { b: 1 } }, { a: {} }, false],
  [{ a: 'text' }, { a: { length: 4 } }, false],
  [{}, { constructor: { name: 'Object' } }, false],
  [{ a: [5] }, { a: { 0: 5 } }, false],
])('claims %j, searched for %j: %s', (claims, criteria, isFound) =>
  expect(searchValues('claims', criteria, 9).every((value) => hasValue({ claims }, value))).toBe(isFound),
);
