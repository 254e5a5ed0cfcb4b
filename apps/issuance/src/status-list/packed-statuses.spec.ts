import fc from 'fast-check';
import {
  INVALID,
  LIST_SIZE,
  maskStatuses,
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

describe('masked statuses', () => {
  it('are INVALID for masked credentials and unchanged for the others', () =>
    fc.assert(
      fc.property(
        bitsOf,
        fc.array(fc.nat(255), { minLength: 1, maxLength: 200 }),
        fc.array(fc.array(fc.nat(199)), { maxLength: 3 }),
        (bits, values, masked) => {
          const statuses = values.map((value) => value % 2 ** bits);
          const list = packed(bits, statuses);
          const masks = masked.map((indexes) => {
            const mask = packedStatuses(statuses.length, 1);
            for (const index of indexes) setStatus(mask, 1, index % statuses.length, 1);
            return mask;
          });
          const isMasked = (index: number) => masks.some((mask) => statusAt(mask, 1, index) === 1);
          expect(unpack(maskStatuses(list, bits, masks), bits, statuses.length)).toEqual(
            statuses.map((status, index) => (isMasked(index) ? INVALID : status)),
          );
          expect(unpack(list, bits, statuses.length)).toEqual(statuses);
        },
      ),
    ));

  it('hide a suspension', () => expect([...maskStatuses(packed(2, [2, 2]), 2, [Uint8Array.of(1)])]).toEqual([0b1001]));

  it('are a copy, also of a Buffer', () => {
    const stored = Buffer.from([0]);
    expect([...maskStatuses(stored, 1, [Uint8Array.of(5)])]).toEqual([5]);
    expect([...stored]).toEqual([0]);
  });

  it('are not copied without a mask', () => {
    const list = packed(2, [1, 2]);
    expect(maskStatuses(list, 2, [])).toBe(list);
  });
});
