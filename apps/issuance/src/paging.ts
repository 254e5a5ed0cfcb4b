import { invalid, type PageQuery } from '@attestry/contracts';
import type { KeyVault } from '@attestry/keys';
import { CursorCodec, InvalidCursor, page, type Page, type PageOptions } from '@attestry/read-model';
import type { SelectQueryBuilder } from 'kysely';

const DEFAULT_LIMIT = 100;

/**
 * One page of a list, oldest first. `list` names tenant, list and filters: a cursor of another list is refused.
 * @throws AppError 400, `param: cursor`
 */
export const listPage = async <DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  request: PageQuery,
  vault: KeyVault,
  list: readonly string[],
  options: Pick<PageOptions<Row>, 'timeColumn' | 'idColumn' | 'key'> = {},
): Promise<Page<Row>> => {
  const codec = new CursorCodec({ mac: (text) => vault.mac(text, 'cursor').mac, scope: JSON.stringify(list) });
  try {
    return await page(query, {
      ...options,
      codec,
      limit: request.limit ?? DEFAULT_LIMIT,
      ...(request.cursor !== undefined && { cursor: request.cursor }),
    });
  } catch (error) {
    if (!(error instanceof InvalidCursor)) throw error;
    throw invalid({ msg: 'Invalid value', param: 'cursor', location: 'query' });
  }
};
