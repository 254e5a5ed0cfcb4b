import fc from 'fast-check';
import { SealBroken } from '../vault/key-vault.js';
import { bind, openBytes, sealBytes } from './seal.js';

describe('the associated data of a seal', () => {
  const key = Buffer.alloc(32, 1);
  const sealedUnder = (...parts: string[]) => sealBytes(key, Buffer.from('plain'), bind(...parts));
  const opened = (sealed: Buffer, ...parts: string[]) => openBytes(key, sealed, bind(...parts), 'the value').toString();

  it.each([
    [
      ['ab', 'c'],
      ['a', 'bc'],
    ],
    [['ab'], ['a', 'b']],
    [['a', ''], ['a']],
    [
      ['', 'a'],
      ['a', ''],
    ],
    // The text of a prefix inside a part.
    [['a1:b'], ['a', 'b']],
    [
      ['value', 'tenant-1', 'user', '1'],
      ['value', 'tenant-', '1user', '1'],
    ],
  ])('of %j does not fit %j', (parts, others) => {
    const sealed = sealedUnder(...parts);
    expect(opened(sealed, ...parts)).toBe('plain');
    expect(() => opened(sealed, ...others)).toThrow(SealBroken);
  });

  it('differs for every other list of parts', () => {
    const list = fc.array(fc.string({ unit: fc.constantFrom('1', '2', ':', 'a', 'é', '😀'), maxLength: 3 }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(list, list, (one, other) => {
        expect(bind(...one).equals(bind(...other))).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 5000, seed: 12 },
    );
  });
});
