import type { PageQuery } from '@attestry/contracts';
import type { Macs } from '@attestry/keys';
import { CursorCodec, page, type CursorCodecOptions, type Page, type PageOptions } from '@attestry/read-model';
import type { SelectQueryBuilder } from 'kysely';

/** Default number of entries of a page. */
export const DEFAULT_LIMIT = 100;

/** Cursors of this deployment. `list` names owner, list and filters: a cursor of another list is refused. */
export const listCursors = (
  macs: Macs,
  list: readonly string[],
  timeName?: CursorCodecOptions['timeName'],
): CursorCodec =>
  new CursorCodec({
    mac: (text) => macs.mac(text, 'cursor').mac,
    scope: JSON.stringify(list),
    ...(timeName && { timeName }),
  });

/**
 * One page of a list, oldest first unless `direction` says otherwise. It ends before it has more than 512 KB, as they are stored (ADR 0098).
 * @throws InvalidCursor, which an endpoint returns as 400, `param: cursor`
 */
export const listPage = <DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { limit = DEFAULT_LIMIT, cursor }: PageQuery,
  macs: Macs,
  list: readonly string[],
  { timeName, ...options }: Omit<PageOptions, 'codec' | 'limit' | 'cursor'> & Pick<CursorCodecOptions, 'timeName'>,
): Promise<Page<Row>> =>
  page(query, {
    ...options,
    codec: listCursors(macs, list, timeName),
    limit,
    ...(cursor !== undefined && { cursor }),
  });
