import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { permuteCounters } from './index-permutation.js';

const secretOf = (name: string): Buffer => createHash('sha256').update(name).digest();
const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });
const all = (key: Uint8Array, size: number) => permuteCounters(key, size, 0, size);
/** Standard score of a count with that probability for each of `trials`. */
const score = (count: number, trials: number, probability: number): number =>
  (count - trials * probability) / Math.sqrt(trials * probability * (1 - probability));

describe('the permutation of counters', () => {
  it('has every index of a list of any size once', () =>
    fc.assert(
      fc.property(secret, fc.integer({ min: 1, max: 3000 }), (key, size) => {
        expect([...all(key, size)].sort((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, i) => i));
      }),
      { numRuns: 200 },
    ));

  it.each([1, 2, 3, 4, 255, 256, 257, 100_000, 131_071, 131_072, 131_073])('is a bijection for the size %i', (size) => {
    const seen = new Uint8Array(size);
    for (const index of all(secretOf(`bijection ${size}`), size)) seen[index]!++;
    expect(seen.every((times) => times === 1)).toBe(true);
  });

  it('does not depend on the blocks in which counters are claimed', () =>
    fc.assert(
      fc.property(secret, fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 64 }), (key, size, block) => {
        const blocks: number[] = [];
        for (let first = 0; first < size; first += block)
          blocks.push(...permuteCounters(key, size, first, Math.min(block, size - first)));
        expect(blocks).toEqual([...all(key, size)]);
      }),
      { numRuns: 50 },
    ));

  // With another result, a list in use would give an index twice. The values are from a second implementation, in BigInt, of one counter at a time.
  it.each([
    [131_072, 0, [52795, 106686, 87409, 36106, 29488, 31217]],
    [100_000, 99_994, [52181, 85498, 73222, 25698, 96290, 96100]],
  ])('never changes: size %i, from counter %i on', (size, first, indexes) =>
    expect([...permuteCounters(secretOf('stable'), size, first, 6)]).toEqual(indexes),
  );

  it('is another one for each secret and each size', () => {
    const size = 10_000;
    const [one, other] = [all(secretOf('one'), size), all(secretOf('other'), size)];
    const larger = all(secretOf('one'), size + 1);
    // Fixed points of a random permutation are Poisson-distributed with mean 1.
    expect(one.filter((index, i) => index === other[i]).length).toBeLessThan(10);
    expect(one.filter((index, i) => index === larger[i]).length).toBeLessThan(10);
  });

  it.each([
    [100, 0, 101],
    [100, 100, 1],
    [100, -1, 2],
    [100, 0.5, 1],
    [0, 0, 1],
    [2 ** 33, 0, 1],
  ])('refuses counters beyond a list of %d: %d and %d more', (size, first, count) =>
    expect(() => permuteCounters(secretOf('range'), size, first, count)).toThrow(RangeError),
  );

  it('refuses a secret that is not of 32 bytes', () =>
    expect(() => permuteCounters(new Uint8Array(16), 10, 0, 10)).toThrow('Invalid key length'));

  it('gives no counters for a claim of none', () =>
    expect([...permuteCounters(secretOf('none'), 10, 10, 0)]).toEqual([]));
});

describe('the indexes of consecutive counters', () => {
  const size = 131_072;
  const indexes = all(secretOf('statistics'), size);
  const limit = 4.5;

  it.each([1, 2, 3, 64, 362, 363, 1024])('are not correlated: %i counters apart', (distance) => {
    const mean = (size - 1) / 2;
    const variance = (size * size - 1) / 12;
    let sum = 0;
    for (let i = 0; i < size; i++) sum += (indexes[i]! - mean) * (indexes[(i + distance) % size]! - mean);
    expect(Math.abs((sum / size / variance) * Math.sqrt(size))).toBeLessThan(limit);
  });

  it.each([1, 2, 363])('rise as often as they fall: %i counters apart', (distance) => {
    let rises = 0;
    for (let i = 0; i + distance < size; i += 2 * distance) rises += indexes[i + distance]! > indexes[i]! ? 1 : 0;
    expect(Math.abs(score(rises, Math.ceil((size - distance) / (2 * distance)), 0.5))).toBeLessThan(limit);
  });

  it('are neighbors no more often than by chance', () => {
    let neighbors = 0;
    for (let i = 1; i < size; i++) neighbors += Math.abs(indexes[i]! - indexes[i - 1]!) === 1 ? 1 : 0;
    // Poisson-distributed with mean 2.
    expect(neighbors).toBeLessThan(14);
  });

  it('have differences that are uniform', () => {
    const cells = new Uint32Array(64);
    for (let i = 1; i < size; i++) cells[((indexes[i]! - indexes[i - 1]! + size) % size) >> 11]!++;
    const expected = (size - 1) / cells.length;
    const chiSquare = cells.reduce((sum, cell) => sum + (cell - expected) ** 2 / expected, 0);
    // 63 degrees of freedom: mean 63, standard deviation 11.2.
    expect(chiSquare).toBeLessThan(63 + limit * 11.3);
    expect(chiSquare).toBeGreaterThan(63 - limit * 11.3);
  });

  it('spread over the list from the first block on', () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const cells = new Uint32Array(16);
      for (const index of permuteCounters(secretOf(name), size, 0, 1024)) cells[index >> 13]!++;
      const chiSquare = cells.reduce((sum, cell) => sum + (cell - 64) ** 2 / 64, 0);
      // 15 degrees of freedom; beyond 44.3 in one of 10,000 cases.
      expect(chiSquare).toBeLessThan(44.3);
    }
  });

  it('have bits that are set in half of them, and that change with half of the counters', () => {
    for (let bit = 0; bit < 17; bit++) {
      const first = indexes.subarray(0, 1024);
      const set = first.filter((index) => (index >> bit) & 1).length;
      const changed = first.filter((index, i) => i % 2 === 0 && ((index ^ first[i + 1]!) >> bit) & 1).length;
      expect(Math.abs(score(set, 1024, 0.5))).toBeLessThan(limit);
      expect(Math.abs(score(changed, 512, 0.5))).toBeLessThan(limit);
    }
  });

  it('differ for one bit of the secret', () => {
    const key = secretOf('statistics');
    key[31]! ^= 1;
    const other = all(key, size);
    expect(indexes.filter((index, i) => index === other[i]).length).toBeLessThan(10);
  });
});
