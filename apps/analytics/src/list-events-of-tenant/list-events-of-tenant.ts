import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { AnalyticsEvent, listEventsOfTenant, OperationContext, PageOf } from '@attestry/contracts';
import type { RequestOf } from '@attestry/service-kit';
import { EventPages } from '../event-pages.js';

export class ListEventsOfTenant {
  constructor(
    readonly request: RequestOf<typeof listEventsOfTenant>,
    readonly context: OperationContext,
  ) {}
}

/** The same pages, of the tenant that management names after it has seen that the caller is its admin. */
@QueryHandler(ListEventsOfTenant)
export class ListEventsOfTenantHandler implements IQueryHandler<ListEventsOfTenant> {
  constructor(private readonly pages: EventPages) {}

  async execute({ request: { params, query } }: ListEventsOfTenant): Promise<PageOf<AnalyticsEvent>> {
    return this.pages.newest(params.tenantId, query);
  }
}
