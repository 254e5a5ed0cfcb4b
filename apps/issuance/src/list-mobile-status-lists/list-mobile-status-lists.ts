import {
  invalid,
  listMobileStatusLists,
  type ClientContext,
  type MobileStatusList,
  type PageOf,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';
import { mobileListView } from '../status-list/mobile-list-view.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';

/** Characters of the tokens of a page. */
const LARGEST_PAGE = 512 * 1024;

@Operation(listMobileStatusLists)
export class ListMobileStatusLists {
  constructor(
    private readonly streams: Streams,
    private readonly lists: PublishedListsReadModel,
  ) {}

  async execute(
    { query }: RequestOf<typeof listMobileStatusLists>,
    { tenant }: ClientContext,
  ): Promise<PageOf<MobileStatusList>> {
    const { limit = 100, cursor } = query;
    // The id of the last entry.
    if (cursor !== undefined && !(await this.lists.findMobile({ tenantId: tenant.id, listId: cursor })))
      throw invalid({ msg: 'must be a nextCursor of this list', param: 'cursor', location: 'query' });
    const [{ state }, rows] = await Promise.all([
      this.streams.load(statusListConfigurations, statusListConfigurationsStream(tenant.id)),
      this.lists.listMobile(tenant.id, { after: cursor, limit: limit + 1 }),
    ]);
    const page: typeof rows = [];
    let characters = 0;
    for (const row of rows.slice(0, limit)) {
      characters += row.token?.length ?? 0;
      if (page.length && characters > LARGEST_PAGE) break;
      page.push(row);
    }
    return {
      data: page.map((row) => mobileListView(row, state)),
      ...(page.length < rows.length && { nextCursor: page.at(-1)!.listId }),
    };
  }
}
