import { parse as parseQuery } from 'node:querystring';
import { AppError, bodyKindOf, invalidBody, type Operation } from '@attestry/contracts';
import { decodeBody } from './check-utf8.js';
import { isXml, parseXml } from './parse-xml.js';

const unsupported = (expected: string) =>
  new AppError('unsupportedMediaType', `Unsupported Media Type: expected ${expected}`);

export const mediaType = (header: string | undefined): string => (header ?? '').split(';', 1)[0]!.trim().toLowerCase();

const MAX_DEPTH = 64;
/** A shorter text cannot nest deeply enough to hurt. */
const SHORT = 2 * MAX_DEPTH;

/** Decoded UTF-8 is well-formed, so only an escape can bring in half of a surrogate pair, which no store can keep. */
const SURROGATE_ESCAPE = /\\ud[89a-f]/i;

/** Nesting is limited before anything recursive visits the value. Each part of it is visited once. */
const checkValue = (value: unknown, mayBeMalformed: boolean): void => {
  const checkText = (text: string): void => {
    if (mayBeMalformed && !text.isWellFormed()) throw invalidBody('body', 'must be well-formed Unicode');
  };
  let level: unknown[] = [value];
  for (let depth = 0; level.length; depth++) {
    if (depth > MAX_DEPTH) throw invalidBody('body', `must not nest deeper than ${MAX_DEPTH} levels`);
    const below: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'string') checkText(item);
      if (typeof item !== 'object' || item === null) continue;
      if (Array.isArray(item)) for (const entry of item as unknown[]) below.push(entry);
      else
        for (const name of Object.keys(item)) {
          checkText(name);
          below.push((item as Record<string, unknown>)[name]);
        }
    }
    level = below;
  }
};

/**
 * The body as the operation declares it; `{}` when there is none.
 * @throws AppError 415 for another media type, 400 for text that does not parse
 */
export const parseBody = (operation: Operation, contentType: string | undefined, raw: Buffer | undefined): unknown => {
  const body = bodyKindOf(operation.http!);
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
    const mayBeMalformed = SURROGATE_ESCAPE.test(text);
    if (text.length > SHORT || mayBeMalformed) checkValue(value, mayBeMalformed);
    // Members named `__proto__` or `constructor` are own members here; no shape has them, and open values lose them (ADR 0040).
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidBody('body', 'must be valid JSON');
  }
};
