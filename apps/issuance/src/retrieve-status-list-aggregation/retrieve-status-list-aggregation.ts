import { retrieveStatusListAggregation, type PublicContext, type StatusListAggregation } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { StatusListsReadModel } from '../status-list/status-lists.read-model.js';

@Operation(retrieveStatusListAggregation)
export class RetrieveStatusListAggregation {
  constructor(private readonly lists: StatusListsReadModel) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<StatusListAggregation> {
    return { status_lists: await this.lists.listUris(tenant.id) };
  }
}
