import { invalid, type PageOf, type PageQuery } from '@attestry/contracts';
import { countFittingEntries } from '@attestry/read-model';

/**
 * A page of a list that is part of a state: it ends at its limit, or before its entries have more than 512 KB (ADR 0098). Secrets are opened for
 * the entries of the page only. The cursor is the id of the last entry; the entries behind a deleted one are not known.
 * @throws AppError 400
 */
export const pageOf = <Entry extends { id: string }>(
  entries: readonly Entry[],
  { limit = 100, cursor }: PageQuery,
): PageOf<Entry> => {
  const from = cursor === undefined ? 0 : entries.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && from === 0)
    throw invalid({ msg: 'must be a nextCursor of this list', param: 'cursor', location: 'query' });
  const limited = entries.slice(from, from + limit);
  const data = limited.slice(0, countFittingEntries(limited));
  return { data, ...(from + data.length < entries.length && { nextCursor: data.at(-1)!.id }) };
};
