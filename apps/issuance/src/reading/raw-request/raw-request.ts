import type { RawRequest } from '@attestry/contracts';

export const queryOf = (request: RawRequest): URLSearchParams => {
  const at = request.url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : request.url.slice(at + 1));
};

/** Protocol endpoints get the raw request and parse it themselves (ADR 0003); its absence is an internal error. */
export const rawOf = (request: { raw?: RawRequest }): RawRequest => {
  if (!request.raw) throw new Error('a protocol endpoint was called without the raw request');
  return request.raw;
};

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
