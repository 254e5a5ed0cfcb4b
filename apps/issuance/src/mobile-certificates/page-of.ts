import { invalid, type PageOf, type PageQuery } from '@attestry/contracts';

/** A page of a short list. The cursor is the id of the last entry; the entries behind a deleted one are not known. @throws AppError 400 */
export const pageOf = <Entry extends { id: string }>(
  entries: readonly Entry[],
  { limit = 100, cursor }: PageQuery,
): PageOf<Entry> => {
  const from = cursor === undefined ? 0 : entries.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && from === 0)
    throw invalid({ msg: 'must be a nextCursor of this list', param: 'cursor', location: 'query' });
  const data = entries.slice(from, from + limit);
  return { data, ...(from + limit < entries.length && { nextCursor: data.at(-1)!.id }) };
};
