import { isUnchanged, notSigned } from './conditions.js';

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

describe('a list without a token', () => {
  it('is unavailable, and can be retried after a second', () =>
    expect(notSigned()).toMatchObject({
      kind: 'unavailable',
      message: 'The first token of the status list is not signed yet',
      headers: { 'retry-after': '1' },
    }));
});
