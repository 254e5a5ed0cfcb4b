import { Inject } from '@nestjs/common';
import {
  invalid,
  listMobileStatusLists,
  type ClientContext,
  type MobileStatusList,
  type PageOf,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { countFitting } from '@attestry/read-model';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';
import { mobileListView } from '../status-list/mobile-list-view.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';

@Operation(listMobileStatusLists)
export class ListMobileStatusLists {
  constructor(
    private readonly streams: Streams,
    private readonly lists: PublishedListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { query }: RequestOf<typeof listMobileStatusLists>,
    { tenant }: ClientContext,
  ): Promise<PageOf<MobileStatusList>> {
    const { limit = 100, cursor } = query;
    // The id of the last entry.
    if (cursor !== undefined && !(await this.lists.isMobile({ tenantId: tenant.id, listId: cursor })))
      throw invalid({ msg: 'must be a nextCursor of this list', param: 'cursor', location: 'query' });
    // Before the tokens, so that none is read that is not returned.
    const sizes = await this.lists.listMobileSizes(tenant.id, { after: cursor, limit: limit + 1 });
    const fitting = countFitting(sizes.slice(0, limit).map(({ characters }) => characters));
    const page = sizes.slice(0, fitting).map(({ listId }) => listId);
    const [{ state }, lists] = await Promise.all([
      this.streams.load(statusListConfigurations, statusListConfigurationsStream(tenant.id)),
      this.lists.findMobile(tenant.id, page),
    ]);
    const now = this.clock.now();
    return {
      data: lists.map((list) => mobileListView(list, state, now)),
      ...(page.length < sizes.length && { nextCursor: page.at(-1)! }),
    };
  }
}
