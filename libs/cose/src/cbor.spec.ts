import { cdeEncodeOptions, decode, encode } from 'cbor2';
import fc from 'fast-check';
import { encodeCbor, encodeCborItem, encodedCborItem, fullDate, tdate, type CborValue } from './cbor.js';
import { jsonToCbor } from './json-claims.js';

/** Values that a JSON parser can return, except -0, which JSON and CBOR have for different reasons. */
const json = fc
  .jsonValue({ depthSize: 'medium', noUnicodeString: false })
  .map((it) => JSON.parse(JSON.stringify(it)) as unknown);
const hex = (value: CborValue) => Buffer.from(encodeCbor(value)).toString('hex');

describe('deterministic CBOR', () => {
  it('has the bytes of another library with the deterministic encoding of RFC 8949 §4.2', () => {
    fc.assert(
      fc.property(json, (value) => {
        const bytes = encodeCbor(jsonToCbor(['claim'], value));
        expect(Buffer.from(bytes).toString('hex')).toBe(Buffer.from(encode(value, cdeEncodeOptions)).toString('hex'));
        expect(decode(bytes)).toEqual(value);
      }),
    );
  });

  it.each([0, 1, 23, 24, 255, 256, 65_535, 65_536, 70_000])('of an item of %i bytes needs no encoder', (length) => {
    const bytes = new Uint8Array(length).fill(7);
    expect(Buffer.compare(encodeCborItem(bytes), encodeCbor(encodedCborItem(bytes)))).toBe(0);
  });

  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(fc.string(), fc.integer()), { selector: ([name]) => name }), (members) => {
        expect(hex(new Map(members))).toBe(hex(new Map(members.toReversed())));
      }),
    );
  });

  it.each<[string, CborValue, string]>([
    [
      'keys bytewise, not by length',
      new Map<string | number, CborValue>([
        ['b', 1],
        ['aa', 2],
        [-1, 3],
        [24, 4],
        [1, 5],
      ]),
      'a5' + '0105' + '181804' + '2003' + '616201' + '62616102',
    ],
    [
      'the shortest integer',
      [23, 24, 255, 256, 65536, -1, -25],
      '87' + '17' + '1818' + '18ff' + '190100' + '1a00010000' + '20' + '3818',
    ],
    [
      'the shortest float that keeps the value',
      [1.5, 3.1, 1e20],
      '83' + 'f93e00' + 'fb4008cccccccccccd' + 'fb4415af1d78b58c40',
    ],
    ['a whole number as an integer', [2.0, -0], '820200'],
    ['byte strings of any Uint8Array', [Uint8Array.of(1), Buffer.of(2)], '8241014102'],
    [
      'a date and time',
      tdate(new Date('2026-01-31T12:00:00.999Z')),
      'c0' + '74' + Buffer.from('2026-01-31T12:00:00Z').toString('hex'),
    ],
    ['a date', fullDate('2026-01-31'), 'd903ec' + '6a' + Buffer.from('2026-01-31').toString('hex')],
    ['an encoded item', encodedCborItem(Uint8Array.of(0xf6)), 'd818' + '41f6'],
  ])('encodes %s', (_, value, expected) => {
    expect(hex(value)).toBe(expected);
  });
});
