import { parse as parseQuery } from 'node:querystring';
import { AppError, invalidBody, type Operation } from '@attestry/contracts';
import { decodeBody } from './check-utf8.js';
import { isXml, parseXml } from './parse-xml.js';

const unsupported = (expected: string) =>
  new AppError('unsupportedMediaType', `Unsupported Media Type: expected ${expected}`);

export const mediaType = (header: string | undefined): string => (header ?? '').split(';', 1)[0]!.trim().toLowerCase();

/**
 * `__proto__` would reach Object.prototype when copied. `constructor` the next step (class-transformer) drops as well, but
 * not before it has called what stands there: without this `{"constructor": 1}` in a value of no declared type is a 500.
 */
const dropPrototypeKeys = (key: string, value: unknown): unknown =>
  key === '__proto__' || key === 'constructor' ? undefined : value;

/** A text without these has neither key, however it is escaped. */
const PROTOTYPE_KEYS = /__proto__|constructor|\\u00/i;

const MAX_DEPTH = 64;
/** A shorter text cannot nest deeply enough to hurt. */
const SHORT = 2 * MAX_DEPTH;

/** Nesting is limited before anything recursive sees the value. */
const checkDepth = (value: unknown): void => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length; depth++) {
    if (depth > MAX_DEPTH) throw invalidBody('body', `must not nest deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
};

/** Decoded UTF-8 is well-formed, so only an escape can bring in half of a surrogate pair, which no store can keep. */
const SURROGATE_ESCAPE = /\\ud[89a-f]/i;
const checkText = (value: unknown): void => {
  let level: unknown[] = [value];
  while (level.length) {
    if (level.some((item) => typeof item === 'string' && !item.isWellFormed()))
      throw invalidBody('body', 'must be well-formed Unicode');
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.entries(item).flat() : []));
  }
};

/**
 * The body as the operation declares it; `{}` when there is none.
 * @throws AppError 415 for another media type, 400 for text that does not parse
 */
export const parseBody = (operation: Operation, contentType: string | undefined, raw: Buffer | undefined): unknown => {
  const { method, body = method === 'POST' || method === 'PUT' ? 'json' : 'none' } = operation.http!;
  if (body === 'none' || body === 'raw' || !operation.body) return {};
  if (!raw?.length && contentType === undefined) return {};
  if (body === 'form') {
    const form = mediaType(contentType);
    if (form !== 'application/x-www-form-urlencoded') throw unsupported('application/x-www-form-urlencoded');
    return { ...parseQuery(decodeBody(raw, form)) };
  }
  const type = mediaType(contentType);
  if (body === 'json-or-xml' && isXml(type)) return parseXml(raw ?? Buffer.alloc(0), contentType!);
  if (type !== 'application/json')
    throw unsupported(body === 'json-or-xml' ? 'application/json or application/xml' : 'application/json');
  const text = decodeBody(raw, type);
  try {
    const value = JSON.parse(text) as unknown;
    if (text.length > SHORT) checkDepth(value);
    if (SURROGATE_ESCAPE.test(text)) checkText(value);
    // Only now: a reviver goes as deep as the value does.
    return PROTOTYPE_KEYS.test(text) ? (JSON.parse(text, dropPrototypeKeys) as unknown) : value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidBody('body', 'must be valid JSON');
  }
};
