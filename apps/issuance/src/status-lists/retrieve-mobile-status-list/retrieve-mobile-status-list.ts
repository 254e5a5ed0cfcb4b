import { Inject } from '@nestjs/common';
import { notFound, retrieveMobileStatusList, type ClientContext, type MobileStatusList } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';
import { mobileListView } from '../status-list/mobile-list-view.js';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';

@Operation(retrieveMobileStatusList)
export class RetrieveMobileStatusList {
  constructor(
    private readonly streams: Streams,
    private readonly lists: PublishedListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { params }: RequestOf<typeof retrieveMobileStatusList>,
    { tenant }: ClientContext,
  ): Promise<MobileStatusList> {
    const [found] = await this.lists.findMobile(tenant.id, [params.id]);
    if (!found) throw notFound();
    const { state } = await this.streams.load(statusListConfigurations, statusListConfigurationsStream(tenant.id));
    return mobileListView(found, state, this.clock.now());
  }
}
