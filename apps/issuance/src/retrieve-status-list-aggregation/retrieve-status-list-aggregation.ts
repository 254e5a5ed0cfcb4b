import { retrieveStatusListAggregation, type PublicContext, type StatusListAggregation } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { PublishedListsReadModel } from '../status-list/published-lists.read-model.js';

@Operation(retrieveStatusListAggregation)
export class RetrieveStatusListAggregation {
  constructor(private readonly lists: PublishedListsReadModel) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<StatusListAggregation> {
    return { status_lists: await this.lists.listTokenUris(tenant.id) };
  }
}
