import { fullDate, tdate, type CborValue } from './cbor.js';
import { ClaimFault } from './claim-fault.js';
import { isNumber, isObject, isText, jsonToCbor } from './json-claims.js';

export const ELEMENT_TYPES = ['string', 'number', 'boolean', 'date', 'dateTime', 'binary', 'object', 'array'] as const;
export type ElementType = (typeof ELEMENT_TYPES)[number];

interface Conversion {
  /** Requirement on a claim, for the error. */
  rule: string;
  /** undefined for a value that the type cannot express */
  convert(value: unknown, claim: readonly string[]): CborValue | undefined;
}

const CONVERSIONS: Readonly<Record<ElementType, Conversion>> = {
  string: { rule: 'must be a string', convert: (value) => (isText(value) ? value : undefined) },
  number: { rule: 'must be a finite number', convert: (value) => (isNumber(value) ? value : undefined) },
  boolean: {
    rule: 'must be true or false',
    convert: (value) => (typeof value === 'boolean' ? value : undefined),
  },
  date: {
    rule: 'must be a date such as 2026-01-31',
    convert: (value) => (isDate(value) ? fullDate(value) : undefined),
  },
  dateTime: {
    rule: 'must be a date and time with offset such as 2026-01-31T12:00:00Z',
    convert: (value) => {
      const date = parseDateTime(value);
      return date && tdate(date);
    },
  },
  binary: {
    rule: 'must be a string in base64 or base64url',
    convert: (value) => decodeBase64(value),
  },
  object: {
    rule: 'must be an object',
    convert: (value, claim) => (isObject(value) ? jsonToCbor(claim, value) : undefined),
  },
  array: {
    rule: 'must be an array',
    convert: (value, claim) => (Array.isArray(value) ? jsonToCbor(claim, value) : undefined),
  },
};

/** A claim as the element value of its type. @throws ClaimFault */
export const convertElement = (claim: readonly string[], type: ElementType, value: unknown): CborValue => {
  const { rule, convert } = CONVERSIONS[type];
  const converted = convert(value, claim);
  if (converted === undefined) throw new ClaimFault(claim, rule, value);
  return converted;
};

/** Why a claim cannot be an element of a type, if it cannot. */
export const elementFault = (type: ElementType, value: unknown): string | undefined => {
  try {
    convertElement([], type, value);
  } catch (error) {
    if (error instanceof ClaimFault) return error.rule;
    throw error;
  }
  return undefined;
};

/** A full-date of RFC 3339 §5.6 that the calendar has. */
export const isDate = (value: unknown): value is string => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  // A day that the month has not becomes one of the next month.
  return new Date(`${value}T00:00:00Z`).getUTCDate() === Number(value.slice(8));
};

const DATE_TIME = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** A date-time of RFC 3339 §5.6; undefined for another value, and for one that has no year of four digits in UTC. */
export const parseDateTime = (value: unknown): Date | undefined => {
  const [, day] = (typeof value === 'string' && DATE_TIME.exec(value)) || [];
  if (!isDate(day)) return undefined;
  const date = new Date(value as string);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date : undefined;
};

const decodeBase64 = (value: unknown): Uint8Array | undefined => {
  if (typeof value !== 'string') return undefined;
  const padding = value.endsWith('==') ? 2 : Number(value.endsWith('='));
  if (padding > 0 && value.length % 4 !== 0) return undefined;
  const unpadded = value.slice(0, value.length - padding);
  const bytes = Buffer.from(unpadded, 'base64url');
  const encoded = bytes.toString(/[+/]/.test(unpadded) ? 'base64' : 'base64url').slice(0, unpadded.length);
  // Anything that the decoder skipped, and bits after the last byte, would be lost.
  return encoded === unpadded ? bytes : undefined;
};
