import { isUnchanged } from './if-none-match.js';

describe('If-None-Match', () => {
  it.each([
    [undefined, false],
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    ['', false],
  ])('%j: %s', (header, unchanged) => expect(isUnchanged(header, '"a"')).toBe(unchanged));
});
