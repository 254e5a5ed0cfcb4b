/** A value of DER, X.690. */
export interface DerValue {
  /** Identifier octet. */
  tag: number;
  content: Uint8Array;
  /** Empty unless the value is constructed. */
  children: readonly DerValue[];
}

/** Bytes that are no DER. */
export class DerFault extends Error {}

export const DER = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const CONSTRUCTED = 0x20;
const UNIVERSAL = 0xc0;
/** No certificate or CRL comes near; each level is a call. */
const MAX_DEPTH = 32;

/**
 * One value and nothing after it. What has two encodings in BER has only that of DER here; rules that need the schema are those of the caller.
 * @throws DerFault that says what is wrong, in words that follow "must be DER: "
 */
export const readDer = (bytes: Uint8Array): DerValue => {
  const { value, end } = readAt(bytes, 0, 0);
  if (end < bytes.length) throw new DerFault('bytes follow the value');
  return value;
};

const readAt = (bytes: Uint8Array, at: number, depth: number): { value: DerValue; end: number } => {
  if (depth > MAX_DEPTH) throw new DerFault('it is nested too deeply');
  const tag = bytes[at];
  if (tag === undefined) throw new DerFault('it is empty');
  if ((tag & 0x1f) === 0x1f) throw new DerFault('a tag has several octets');
  const { length, next } = readLength(bytes, at + 1);
  const end = next + length;
  if (end > bytes.length) throw new DerFault('a length is larger than what follows');
  return { value: readValue(tag, bytes.subarray(next, end), depth), end };
};

const readChildren = (content: Uint8Array, depth: number): DerValue[] => {
  const values: DerValue[] = [];
  for (let at = 0; at < content.length;) {
    const { value, end } = readAt(content, at, depth);
    values.push(value);
    at = end;
  }
  return values;
};

/** A length takes one octet up to 127, otherwise as few as possible (X.690 §10.1). */
const readLength = (bytes: Uint8Array, at: number): { length: number; next: number } => {
  const first = bytes[at];
  if (first === undefined) throw new DerFault('a length is missing');
  if (first < 0x80) return { length: first, next: at + 1 };
  if (first === 0x80) throw new DerFault('a length is indefinite');
  const octets = bytes.subarray(at + 1, at + 1 + (first & 0x7f));
  if (octets.length < (first & 0x7f) || octets.length > 4) throw new DerFault('a length is larger than what follows');
  const length = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  if (octets[0] === 0 || length < 0x80) throw new DerFault('a length is longer than necessary');
  return { length, next: at + 1 + octets.length };
};

const readValue = (tag: number, content: Uint8Array, depth: number): DerValue => {
  const children = tag & CONSTRUCTED ? readChildren(content, depth + 1) : [];
  const isUniversal = (tag & UNIVERSAL) === 0;
  const fault = isUniversal && universalFault(tag, content);
  if (fault) throw new DerFault(fault);
  return { tag, content, children };
};

/** X.690 §8, §10 and §11. */
const universalFault = (tag: number, content: Uint8Array): string | false => {
  switch (tag) {
    case DER.sequence:
      return false;
    case DER.set:
      return setFault(content);
    case DER.boolean:
      return (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) && 'a BOOLEAN is not 00 or FF';
    case DER.integer:
    case DER.enumerated:
      return integerFault(content);
    case DER.bitString:
      return bitStringFault(content);
    case DER.null:
      return content.length > 0 && 'a NULL is not empty';
    case DER.oid:
      return oidFault(content);
    case DER.utcTime:
      return !/^\d{12}Z$/.test(textOf(content)) && 'a UTCTime is not YYMMDDHHMMSSZ';
    case DER.generalizedTime:
      return !/^\d{14}(?:\.\d*[1-9])?Z$/.test(textOf(content)) && 'a GeneralizedTime is not YYYYMMDDHHMMSSZ';
    default:
      if (tag & CONSTRUCTED) return 'a value that is no SEQUENCE or SET is constructed';
      return (tag === 0x10 || tag === 0x11) && 'a SEQUENCE or SET is not constructed';
  }
};

const textOf = (content: Uint8Array): string => Buffer.from(content).toString('latin1');

const integerFault = (content: Uint8Array): string | false => {
  const [first, second] = content;
  if (first === undefined) return 'an INTEGER is empty';
  const isPadded = second !== undefined && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));
  return isPadded && 'an INTEGER is longer than necessary';
};

const bitStringFault = (content: Uint8Array): string | false => {
  const [unused] = content;
  if (unused === undefined || unused > 7 || (unused > 0 && content.length === 1))
    return 'a BIT STRING has an incorrect number of unused bits';
  return (
    (content.at(-1)! & ((1 << unused) - 1)) !== 0 && content.length > 1 && 'a BIT STRING has unused bits that are set'
  );
};

const oidFault = (content: Uint8Array): string | false => {
  const isMinimal = content.every((octet, at) => octet !== 0x80 || (at > 0 && content[at - 1]! >= 0x80));
  return (!isMinimal || (content.at(-1) ?? 0x80) >= 0x80) && 'an OBJECT IDENTIFIER is not minimal';
};

/** The encodings of a SET OF are in ascending order (§11.6); a SET of several types is in no certificate. */
const setFault = (content: Uint8Array): string | false => {
  const encodings: Uint8Array[] = [];
  for (let at = 0; at < content.length;) {
    const { length, next } = readLength(content, at + 1);
    encodings.push(content.subarray(at, next + length));
    at = next + length;
  }
  return (
    encodings.some((encoding, at) => at > 0 && Buffer.compare(encodings[at - 1]!, encoding) > 0) &&
    'a SET is not in ascending order'
  );
};
