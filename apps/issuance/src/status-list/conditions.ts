import { AppError } from '@attestry/contracts';
import { weightedList } from '../protocol/weighted-list.js';

/** RFC 9110 §12.5.1. Without the header any media type is accepted. */
export const accepts = (accept: string | undefined, mediaType: string): boolean => {
  if (accept === undefined) return true;
  const values = weightedList(accept);
  for (const range of [mediaType, 'application/*', '*/*']) {
    const found = values.find(({ value }) => value === range);
    if (found) return found.weight > 0;
  }
  return false;
};

/** `If-None-Match`, by the weak comparison: RFC 9110 §13.1.2. */
export const isUnchanged = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch
    ?.split(',')
    .map((value) => value.trim())
    .some((value) => value === '*' || value.replace(/^W\//, '') === etag) ?? false;

/** A credential may refer to a list that was opened a moment ago. */
export const notSigned = (): AppError =>
  new AppError('unavailable', 'The first token of the status list is not signed yet', {
    headers: { 'retry-after': '1' },
  });
