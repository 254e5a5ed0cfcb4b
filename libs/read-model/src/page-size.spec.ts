import { countFitting } from './page-size.js';

const KIB = 1024;

describe('a page of large entries', () => {
  it.each([
    ['no entries', [], 0],
    ['all that have 512 KB together', [256 * KIB, 256 * KIB], 2],
    ['those before the one that exceeds it', [256 * KIB, 256 * KIB, 1], 2],
    ['a larger one alone', [600 * KIB, 1], 1],
    ['only those before a larger one', [1, 600 * KIB], 1],
    ['entries without a size', [512 * KIB, 0, 0], 3],
  ])('has %s', (_, sizes, expected) => expect(countFitting(sizes)).toBe(expected));
});
