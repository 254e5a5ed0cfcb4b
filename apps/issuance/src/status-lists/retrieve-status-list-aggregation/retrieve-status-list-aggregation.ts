import { Inject } from '@nestjs/common';
import { retrieveStatusListAggregation, type PublicContext, type StatusListAggregation } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CLOCK, Operation } from '@attestry/service-kit';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';

@Operation(retrieveStatusListAggregation)
export class RetrieveStatusListAggregation {
  constructor(
    private readonly lists: PublishedListsReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<StatusListAggregation> {
    return { status_lists: await this.lists.listTokenUris(tenant.id, this.clock.now()) };
  }
}
