import fc from 'fast-check';
import { jsonFaultIndex, jsonFaultPosition } from './json-syntax.js';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('the place where a text stops being JSON [T651]', () => {
  it.each([
    ['', 0],
    ['  ', 2],
    ['{', 1],
    ['{"a"', 4],
    ['{"a":', 5],
    ['{"a":1', 6],
    ['{"a":1,', 7],
    ['{"a":1,}', 7],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['{"a" 1}', 5],
    ["{'a':1}", 1],
    ['{a:1}', 1],
    ['{"a":1}}', 7],
    ['1 1', 2],
    ['01', 1],
    ['-', 1],
    ['-x', 1],
    ['1.', 1],
    ['+1', 0],
    ['tru', 3],
    ['trux', 3],
    ['NaN', 0],
    ['"a', 2],
    ['"a\nb"', 2],
    ['"\\x"', 2],
    ['"\\u12g4"', 5],
    ['"\\u12', 5],
    ['"\\', 2],
    ['\ufeff{}', 0],
    ['[}', 1],
    ['{"a":[1}', 7],
    ['//x\n{}', 0],
  ])('in %j is %i', (text, index) => expect(jsonFaultIndex(text)).toBe(index));

  it('is found exactly where the parser refuses the text', () => {
    const broken = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '"', '{', ']', '\\', '0', 'e', '\u0001', ' ', 'null'),
        fc.nat(3),
      )
      .map(([text, at, inserted, removed]) => {
        const index = at % (text.length + 1);
        return text.slice(0, index) + inserted + text.slice(index + removed);
      });
    fc.assert(
      fc.property(broken, (text) => {
        const index = jsonFaultIndex(text);
        expect([text, index === undefined]).toEqual([text, isJson(text)]);
        // The text before it has no fault, or only ends too early.
        if (index !== undefined) expect([undefined, index]).toContain(jsonFaultIndex(text.slice(0, index)));
      }),
      { numRuns: 5000, seed: 1 },
    );
  });

  it('is named by line and column, from 1, without a part of the text', () => {
    expect(jsonFaultPosition('{"password": hunter2}')).toBe('unexpected character at line 1, column 14');
    expect(jsonFaultPosition('{\r\n  "a": 1,\n  x}')).toBe('unexpected character at line 3, column 3');
    expect(jsonFaultPosition('{"a":\n')).toBe('it ends too early, at line 2, column 1');
  });

  it.each([
    ['', 'it is empty'],
    [' \r\n\t', 'it is empty'],
    ['\ufeff', 'unexpected character at line 1, column 1'],
    ['{"a":1,}', 'a comma before } at line 1, column 8'],
    ['{"a":[1, 2,\n ]}', 'a comma before ] at line 2, column 2'],
    ['{,}', 'unexpected character at line 1, column 2'],
    ['[1,,]', 'unexpected character at line 1, column 4'],
    ['{"a":}', 'unexpected character at line 1, column 6'],
    ['[",]', 'it ends too early, at line 1, column 5'],
  ])('is named where it is usual: %j [T651]', (text, fault) => {
    expect(jsonFaultPosition(text)).toBe(fault);
  });

  it('is found in linear time, however deep the text is', () => {
    const start = Date.now();
    expect(jsonFaultIndex('['.repeat(1_000_000))).toBe(1_000_000);
    expect(jsonFaultIndex(`"${'\\u0041'.repeat(200_000)}`)).toBe(1_200_001);
    expect(Date.now() - start).toBeLessThan(5000);
  });
});
