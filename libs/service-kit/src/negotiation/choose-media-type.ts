import { weightedList } from './weighted-list.js';

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
