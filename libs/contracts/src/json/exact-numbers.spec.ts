import fc from 'fast-check';
import { inexactNumbers, isExactNumber } from './exact-numbers.js';

describe('a number of a JSON text [T608]', () => {
  it.each([
    ...[
      '0',
      '-0',
      '1.0',
      '1e2',
      '1E+2',
      '0.1',
      '-0.0',
      '1.50',
      '9007199254740991',
      '9007199254740992',
      '1e308',
      '5e-324',
    ],
    ...['0e999', '0.000000000000000000000000', '1.00000000000000000000', '100000000000000000000000', '1e0000000000005'],
    ...['0.30000000000000004', '1.7976931348623157e308', '123456789012345680000', `1${'0'.repeat(300)}`],
  ])('is exact: %s', (number) => {
    expect(isExactNumber(number)).toBe(true);
    expect(inexactNumbers(`{"a":[${number}]}`, 10)).toEqual([]);
  });

  it.each([
    ...[
      '12345678901234567891',
      '9007199254740993',
      '0.1000000000000000055',
      '1e400',
      '-1e400',
      '1e-400',
      '0.30000000000000001',
    ],
    ...['123456789012345678', '1.00000000000000000001', '179769313486231580000e290', `1${'0'.repeat(300)}1`, '2e-324'],
  ])('is not exact: %s', (number) => {
    expect(isExactNumber(number)).toBe(false);
    expect(inexactNumbers(`{"a":[1,${number}]}`, 10)).toEqual([['a', '1']]);
  });

  it('is exact if JSON.stringify wrote it', () =>
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (double) =>
        isExactNumber(JSON.stringify(double)),
      ),
    ));

  it('is found by its path, and never inside a text or a name', () => {
    const big = '12345678901234567891';
    const text = `{ "${big}" : "${big}\\"", "a b": { "c": [ 1, "x\\\\", { "\\u0064": ${big} } ], "e": [[], {}, -${big}] }, "f": [[${big}]] }`;
    expect(inexactNumbers(text, 10)).toEqual([
      ['a b', 'c', '2', 'd'],
      ['a b', 'e', '2'],
      ['f', '0', '0'],
    ]);
    expect(inexactNumbers(text, 1)).toEqual([['a b', 'c', '2', 'd']]);
    expect(inexactNumbers(big, 10)).toEqual([[]]);
    expect(inexactNumbers(`[${big}]`, 10)).toEqual([['0']]);
  });

  it('costs one pass of the text where digits are short', () => {
    const text = JSON.stringify({
      portrait: 'A1b2'.repeat(100_000),
      n: Array.from({ length: 20_000 }, (_, n) => n / 7),
    });
    const started = performance.now();
    for (let round = 0; round < 10; round++) inexactNumbers('1'.repeat(15) + JSON.stringify('x'.repeat(400_000)), 10);
    inexactNumbers(text, 10);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
