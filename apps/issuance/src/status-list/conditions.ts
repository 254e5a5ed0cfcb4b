import { AppError } from '@attestry/contracts';
import { weightedList } from '../protocol/weighted-list.js';

/** The media type with the greatest weight; of those one that is named, then the first. RFC 9110 §12.5.1 */
export const chooseMediaType = (accept: string | undefined, types: readonly string[]): string | undefined => {
  if (accept === undefined) return types[0];
  const values = weightedList(accept);
  let chosen: { type: string; rank: number } | undefined;
  for (const type of types) {
    const range = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*'].find((one) =>
      values.some(({ value }) => value === one),
    );
    const weight = values.find(({ value }) => value === range)?.weight ?? 0;
    // Weights have three decimals.
    const rank = weight && weight + (range === type ? 0.0001 : 0);
    if (rank > (chosen?.rank ?? 0)) chosen = { type, rank };
  }
  return chosen?.type;
};

/** `If-None-Match`, by the weak comparison: RFC 9110 §13.1.2. */
export const isUnchanged = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch
    ?.split(',')
    .map((value) => value.trim())
    .some((value) => value === '*' || value.replace(/^W\//, '') === etag) ?? false;

/** Its first token has expired: another one is signed when a credential refers to the list. */
export const notUsed = (): AppError =>
  new AppError('unavailable', 'No credential refers to the status list yet: its token is signed with the first one', {
    headers: { 'retry-after': '1' },
  });

/** A credential may refer to a list that was opened a moment ago. */
export const notSigned = (): AppError =>
  new AppError('unavailable', 'The first token of the status list is not signed yet', {
    headers: { 'retry-after': '1' },
  });
