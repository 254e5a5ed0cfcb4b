import { cdeEncodeOptions, encode } from 'cbor2';
import fc from 'fast-check';
import { encodeCbor, type CborValue } from './cbor.js';
import { ClaimFault } from './claim-fault.js';
import {
  convertElement,
  ELEMENT_TYPES,
  elementFault,
  isDate,
  parseDateTime,
  type ElementType,
} from './element-types.js';

const claim = ['org.example.1', 'element'];
const hex = (value: CborValue) => Buffer.from(encodeCbor(value)).toString('hex');
const text = (value: string) => Buffer.from(encode(value)).toString('hex');
const tdate = (value: string) => `c0${text(value)}`;

describe('the value of an element', () => {
  it.each<[ElementType, unknown, string]>([
    ['string', 'Ada', text('Ada')],
    ['string', '', '60'],
    ['number', 12, '0c'],
    ['number', -1, '20'],
    ['number', 1.5, 'f93e00'],
    ['number', 2 ** 53, 'fa5a000000'],
    ['boolean', true, 'f5'],
    ['boolean', false, 'f4'],
    ['date', '2024-02-29', `d903ec${text('2024-02-29')}`],
    ['dateTime', '2026-01-31T12:00:00Z', tdate('2026-01-31T12:00:00Z')],
    ['dateTime', '2026-01-31T12:00:00.987Z', tdate('2026-01-31T12:00:00Z')],
    ['dateTime', '2026-01-31T23:30:00-01:00', tdate('2026-02-01T00:30:00Z')],
    ['binary', 'AQID', '43010203'],
    ['binary', '+/8=', '42fbff'],
    ['binary', '-_8', '42fbff'],
    ['binary', '', '40'],
    ['object', { b: 1, aa: [null, true] }, 'a2616201' + '6261618' + '2f6f5'],
    ['object', JSON.parse('{"__proto__": 1}'), 'a1' + text('__proto__') + '01'],
    ['array', [], '80'],
    ['array', [{ a: 'x' }], '81a161616178'],
  ])('of type %s: %j', (type, value, expected) => {
    expect(hex(convertElement(claim, type, value))).toBe(expected);
  });

  it.each<[ElementType, unknown, string]>([
    ['string', 1, 'must be a string, not a number'],
    ['string', '\ud800', 'must be a string, not a string with a lone surrogate'],
    ['number', '12', 'must be a finite number, not another string'],
    ['number', Infinity, 'must be a finite number, not NaN or infinite'],
    ['boolean', 'true', 'must be true or false, not another string'],
    ['boolean', null, 'must be true or false, not null'],
    ['date', '31.01.2026', 'must be a date such as 2026-01-31, not another string'],
    ['date', '2025-02-29', 'must be a date such as 2026-01-31, not another string'],
    ['date', '2026-01-31T12:00:00Z', 'must be a date such as 2026-01-31, not another string'],
    ['date', 20260131, 'must be a date such as 2026-01-31, not a number'],
    ['dateTime', '2026-01-31', 'must be a date and time with offset such as 2026-01-31T12:00:00Z, not another string'],
    ['dateTime', true, 'must be a date and time with offset such as 2026-01-31T12:00:00Z, not a boolean'],
    ['binary', 'A', 'must be a string in base64 or base64url, not another string'],
    ['binary', 'AQ=', 'must be a string in base64 or base64url, not another string'],
    ['binary', '+w===', 'must be a string in base64 or base64url, not another string'],
    ['binary', 'AQ==AQ==', 'must be a string in base64 or base64url, not another string'],
    ['binary', 'AR==', 'must be a string in base64 or base64url, not another string'],
    ['binary', '+_8=', 'must be a string in base64 or base64url, not another string'],
    ['binary', 'AQ ID', 'must be a string in base64 or base64url, not another string'],
    ['binary', 'data:image/png;base64,AQID', 'must be a string in base64 or base64url, not another string'],
    ['binary', [1, 2], 'must be a string in base64 or base64url, not an array'],
    ['object', [], 'must be an object, not an array'],
    ['object', 'x', 'must be an object, not another string'],
    [
      'object',
      { a: ['\udc00'] },
      'must consist of JSON values with well-formed text, not a string with a lone surrogate',
    ],
    ['object', { '\udc00': 1 }, 'must have names of well-formed text, not a string with a lone surrogate'],
    ['array', {}, 'must be an array, not an object'],
    ['array', [NaN], 'must consist of JSON values with well-formed text, not NaN or infinite'],
  ])('of type %s is refused with its namespace, element and the rule: %j', (type, value, rule) => {
    expect(() => convertElement(claim, type, value)).toThrow(ClaimFault);
    expect(() => convertElement(claim, type, value)).toThrow(new Error(`org.example.1 element ${rule}`));
  });

  it('is encoded as its type or refused, whatever JSON has', () => {
    const majorType: Record<ElementType, RegExp> = {
      string: /^[67]/,
      number: /^([0-3]|f[9ab])/,
      boolean: /^f[45]$/,
      date: /^d903ec6a/,
      dateTime: /^c074/,
      binary: /^[45]/,
      object: /^[ab]/,
      array: /^[89]/,
    };
    const value = fc.oneof(
      fc.jsonValue(),
      fc.date({ noInvalidDate: true }).map((it) => it.toISOString()),
      fc.base64String(),
    );
    fc.assert(
      fc.property(fc.constantFrom(...ELEMENT_TYPES), value, (type, json) => {
        try {
          expect(hex(convertElement(claim, type, json))).toMatch(majorType[type]);
        } catch (error) {
          expect(error).toBeInstanceOf(ClaimFault);
        }
      }),
    );
  });

  it('of type binary has the bytes that were encoded, in each form of base64', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const buffer = Buffer.from(bytes);
        const expected = Buffer.from(encode(bytes, cdeEncodeOptions)).toString('hex');
        for (const form of [
          buffer.toString('base64'),
          buffer.toString('base64url'),
          buffer.toString('base64').replace(/=/g, ''),
        ])
          expect(hex(convertElement(claim, 'binary', form))).toBe(expected);
      }),
    );
  });
});

describe('dates of RFC 3339', () => {
  it('are those of the calendar', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          const value = date.toISOString();
          expect(parseDateTime(value)).toEqual(date);
          expect(isDate(value.slice(0, 10))).toBe(true);
        },
      ),
    );
  });

  it.each([
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00+24:00',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
    '+010000-01-01T00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    1_700_000_000,
    null,
  ])('are no dates and times: %s', (value) => {
    expect(parseDateTime(value)).toBeUndefined();
  });
});

describe('the fault of a claim as an element', () => {
  it('is the rule that conversion would name, for any JSON value', () =>
    fc.assert(
      fc.property(fc.constantFrom(...ELEMENT_TYPES), fc.jsonValue({ maxDepth: 2 }), (type, value) => {
        let rule: string | undefined;
        try {
          convertElement(claim, type, value);
        } catch (error) {
          ({ rule } = error as ClaimFault);
        }
        expect(elementFault(type, value)).toBe(rule);
      }),
    ));

  it('passes on what is no fault of the claim', () => {
    const value = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new TypeError('broken');
        },
      },
    );
    expect(() => elementFault('object', value)).toThrow(new TypeError('broken'));
  });
});
