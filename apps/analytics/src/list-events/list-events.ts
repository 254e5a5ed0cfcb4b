import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { AnalyticsEvent, listEvents, OperationContext, PageOf } from '@attestry/contracts';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { EventPages } from '../event-pages.js';

export class ListEvents {
  constructor(
    readonly request: RequestOf<typeof listEvents>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(ListEvents)
export class ListEventsHandler implements IQueryHandler<ListEvents> {
  constructor(private readonly pages: EventPages) {}

  async execute({ request: { query }, context }: ListEvents): Promise<PageOf<AnalyticsEvent>> {
    return this.pages.newest(tenantOf(context).id, query);
  }
}
