import { parse as parseQuery } from 'node:querystring';
import {
  AppError,
  bodyKindOf,
  inexactNumbers,
  invalid,
  invalidBody,
  jsonFaultPosition,
  mediaTypeOf,
  shownPath,
  type Operation,
} from '@attestry/contracts';
import { hasOpenValues } from './open-values.js';
import { checkJsonText } from './check-json-text.js';
import { decodeBody } from './check-utf8.js';
import { isXml, parseXml } from './parse-xml.js';

const FORM = 'application/x-www-form-urlencoded';
const EXPECTED = {
  json: 'application/json',
  form: FORM,
  'json-or-form': `application/json or ${FORM}`,
  'json-or-xml': 'application/json or application/xml',
};

const unsupported = (expected: string) =>
  new AppError('unsupportedMediaType', `Unsupported Media Type: expected ${expected}`);

/**
 * Decoded UTF-8 is well-formed, so only an escape can contain half of a surrogate pair, which no store accepts. Only a large exponent or many
 * digits can make a number that JavaScript reads as infinite, which JSON cannot represent.
 */
const SUSPECT = /\\ud[89a-f]|\de\+?\d{3}|(?<!\d)\d{200}/i;

/** Each part of the value is visited once; its size is bounded as its text is. */
const checkValues = (value: unknown): void => {
  const below: unknown[] = [value];
  while (below.length > 0) {
    const item = below.pop();
    if (typeof item === 'string' && !item.isWellFormed()) throw invalidBody('body', 'must be well-formed Unicode');
    if (typeof item === 'number' && !Number.isFinite(item))
      throw invalidBody('body', 'must have only numbers in the range of a double (RFC 8259 §6)');
    if (typeof item !== 'object' || item === null) continue;
    if (Array.isArray(item)) for (const entry of item as unknown[]) below.push(entry);
    else for (const [name, member] of Object.entries(item)) below.push(name, member);
  }
};

const INEXACT =
  'must be a number that a double represents exactly, such as 1.5 or 9007199254740991: send a longer one as text';
/** Numbers that a refusal names. */
const MAX_NAMED = 10;

/**
 * For a body with values that are stored unchanged, such as claims: an inexact number would be signed with another value. @throws AppError
 * 400
 */
const checkNumbers = (text: string): void => {
  const paths = inexactNumbers(text, MAX_NAMED);
  if (paths.length > 0)
    throw invalid(
      ...paths.map((path) => ({
        msg: INEXACT,
        param: shownPath(path) || 'body',
        location: 'body' as const,
      })),
    );
};

/**
 * The body as the operation declares it; `{}` when there is none.
 * @throws AppError 415 for another media type, 400 for text that does not parse
 */
export const parseBody = (
  operation: Operation,
  contentType: string | undefined,
  raw: Buffer | undefined,
  body = bodyKindOf(operation.http!),
): unknown => {
  if (body === 'none' || body === 'raw' || !operation.body) return {};
  if (!raw?.length && contentType === undefined) return {};
  const type = mediaTypeOf(contentType);
  if (type === FORM && (body === 'form' || body === 'json-or-form')) return { ...parseQuery(decodeBody(raw, type)) };
  if (body === 'json-or-xml' && isXml(type)) return parseXml(raw ?? Buffer.alloc(0), contentType!);
  if (body === 'form' || type !== 'application/json') throw unsupported(EXPECTED[body]);
  const text = decodeBody(raw, type);
  checkJsonText(text);
  try {
    const value = JSON.parse(text) as unknown;
    if (hasOpenValues(operation)) checkNumbers(text);
    if (SUSPECT.test(text)) checkValues(value);
    // A member named `__proto__` is an own member here; no shape has it, and open values with it are refused (ADR 0040).
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidBody('body', `must be valid JSON: ${jsonFaultPosition(text)}`);
  }
};
