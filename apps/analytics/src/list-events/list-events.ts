import { listEvents, type AnalyticsEvent, type OperationContext, type PageOf } from '@attestry/contracts';
import { Operation, tenantOf, type RequestOf } from '@attestry/service-kit';
import { EventPages } from '../event-lists/event-pages.js';

@Operation(listEvents)
export class ListEvents {
  constructor(private readonly pages: EventPages) {}

  async execute({ query }: RequestOf<typeof listEvents>, context: OperationContext): Promise<PageOf<AnalyticsEvent>> {
    return this.pages.newest(tenantOf(context).id, query);
  }
}
