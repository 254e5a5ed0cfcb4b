import { parse as parseQuery } from 'node:querystring';
import { AppError, invalidBody, type Operation } from '@attestry/contracts';

const unsupported = (expected: string) =>
  new AppError('unsupportedMediaType', `Unsupported Media Type: expected ${expected}`);

const mediaType = (header: string | undefined): string => (header ?? '').split(';', 1)[0]!.trim().toLowerCase();

/** A key that would reach Object.prototype when copied. */
const dropPrototypeKeys = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value);

const parseJson = (text: string): unknown =>
  text.includes('__proto__') ? (JSON.parse(text, dropPrototypeKeys) as unknown) : (JSON.parse(text) as unknown);

/**
 * The body as the operation declares it; `{}` when there is none.
 * @throws AppError 415 for another media type, 400 for text that does not parse
 */
export const parseBody = (operation: Operation, contentType: string | undefined, raw: Buffer | undefined): unknown => {
  const { method, body = method === 'POST' || method === 'PUT' ? 'json' : 'none' } = operation.http!;
  if (body === 'none' || body === 'raw' || !operation.body) return {};
  if (!raw?.length && contentType === undefined) return {};
  if (body === 'form') {
    if (mediaType(contentType) !== 'application/x-www-form-urlencoded')
      throw unsupported('application/x-www-form-urlencoded');
    return { ...parseQuery((raw ?? Buffer.alloc(0)).toString('utf8')) };
  }
  if (mediaType(contentType) !== 'application/json') throw unsupported('application/json');
  try {
    return parseJson((raw ?? Buffer.alloc(0)).toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidBody('body', 'must be valid JSON');
  }
};
