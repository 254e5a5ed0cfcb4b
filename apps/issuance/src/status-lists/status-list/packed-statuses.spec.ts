import fc from 'fast-check';
import {
  INVALID,
  invalidStatuses,
  LIST_SIZE,
  packedStatuses,
  setStatus,
  statusAt,
  SUSPENDED,
  VALID,
  type StatusBits,
} from './packed-statuses.js';

const bitsOf = fc.constantFrom<StatusBits>(1, 2, 4, 8);
const unpack = (packed: Uint8Array, bits: StatusBits, size: number): number[] =>
  Array.from({ length: size }, (_, index) => statusAt(packed, bits, index));
const packed = (bits: StatusBits, statuses: readonly number[]): Uint8Array => {
  const list = packedStatuses(statuses.length, bits);
  for (const [index, status] of statuses.entries()) setStatus(list, bits, index, status);
  return list;
};

describe('packed statuses', () => {
  // Token Status List §4.1
  it('have the first index in the least significant bits', () => {
    expect(packed(1, [1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1])).toEqual(Uint8Array.of(0xb9, 0xa3));
    expect(packed(2, [1, 2, 0, 3, 0, 1, 0, 1, 1, 2, 3, 3])).toEqual(Uint8Array.of(0xc9, 0x44, 0xf9));
    expect(packed(4, [1, 2, 0xf])).toEqual(Uint8Array.of(0x21, 0x0f));
    expect(packed(8, [0xab, 0xcd])).toEqual(Uint8Array.of(0xab, 0xcd));
  });

  it.each([
    [LIST_SIZE, 1, 16_384],
    [LIST_SIZE, 2, 32_768],
    [100_000, 2, 25_000],
    [5, 2, 2],
  ] as [number, StatusBits, number][])('begin VALID: %i of %i bits in %i bytes', (size, bits, bytes) =>
    expect(packedStatuses(size, bits)).toEqual(new Uint8Array(bytes)),
  );

  it('are changed one by one', () =>
    fc.assert(
      fc.property(
        bitsOf,
        fc.array(fc.record({ index: fc.nat(199), status: fc.nat(255) }), { maxLength: 300 }),
        (bits, changes) => {
          const list = packedStatuses(200, bits);
          const expected = new Array<number>(200).fill(VALID);
          for (const change of changes) {
            const status = change.status % 2 ** bits;
            expect(setStatus(list, bits, change.index, status)).toBe(expected[change.index] !== status);
            expected[change.index] = status;
          }
          expect(unpack(list, bits, 200)).toEqual(expected);
        },
      ),
    ));

  it.each([-1, 16, 0.5, NaN])('refuse the index %d', (index) => {
    expect(() => statusAt(packedStatuses(16, 1), 1, index)).toThrow(RangeError);
    expect(() => setStatus(packedStatuses(8, 2), 2, index, VALID)).toThrow(RangeError);
  });

  it.each([
    [1, SUSPENDED],
    [2, 4],
    [8, 256],
    [2, -1],
    [2, 0.5],
  ] as [StatusBits, number][])('of %i bits refuse the status %d', (bits, status) =>
    expect(() => setStatus(packedStatuses(8, bits), bits, 0, status)).toThrow(RangeError),
  );
});

describe('invalid statuses', () => {
  it('are INVALID for every credential, and need as many bytes', () =>
    fc.assert(
      fc.property(bitsOf, fc.integer({ min: 1, max: 500 }), (bits, size) => {
        const list = invalidStatuses(size, bits);
        expect(list).toHaveLength(packedStatuses(size, bits).length);
        expect(unpack(list, bits, size)).toEqual(new Array<number>(size).fill(INVALID));
      }),
    ));

  it.each([
    [1, 0xff],
    [2, 0x55],
    [4, 0x11],
    [8, 0x01],
  ] as [StatusBits, number][])('of %i bits repeat the byte %d', (bits, byte) =>
    expect(invalidStatuses(16, bits)).toEqual(new Uint8Array(2 * bits).fill(byte)),
  );
});
