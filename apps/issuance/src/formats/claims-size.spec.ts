import { claimsSizeFault } from './claims-size.decisions.js';

describe('the size of the claims', () => {
  const nested = (levels: number): unknown => (levels ? [nested(levels - 1)] : 1);
  const characters = (count: number) => ({ ab: 'x'.repeat(count - 2) });

  it.each<[string, Record<string, unknown>]>([
    ['characters', characters(65_536)],
    ['values', { x: Array.from({ length: 998 }, () => 1) }],
    ['levels', { x: nested(31) }],
  ])('may have the largest number of %s', (_, claims) => expect(claimsSizeFault(claims)).toBeUndefined());

  it.each<[string, Record<string, unknown>, string]>([
    ['characters', characters(65_537), 'exceed 65536 characters in total'],
    ['characters of names', { ['n'.repeat(65_537)]: 1 }, 'exceed 65536 characters in total'],
    ['characters of nested names', { x: [{ ['n'.repeat(65_536)]: 1 }] }, 'exceed 65536 characters in total'],
    ['values', { x: Array.from({ length: 999 }, () => 1) }, 'exceed 1000 values in total'],
    ['levels', { x: nested(32) }, 'nest deeper than 32 levels'],
  ])('is refused with one more of the %s', (_, claims, fault) => expect(claimsSizeFault(claims)).toBe(fault));

  it('is refused where one text is mapped to many claims, without reading the rest', () => {
    const claims = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`c${n}`, 'x'.repeat(60_000)]));
    expect(claimsSizeFault(claims)).toBe('exceed 65536 characters in total');
  });
});
