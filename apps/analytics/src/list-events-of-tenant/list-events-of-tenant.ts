import { listEventsOfTenant, type AnalyticsEvent, type PageOf } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { EventPages } from '../event-lists/event-pages.js';

/** The same pages for a tenant that management names after it has checked that the caller is its admin. */
@Operation(listEventsOfTenant)
export class ListEventsOfTenant {
  constructor(private readonly pages: EventPages) {}

  async execute({ params, query }: RequestOf<typeof listEventsOfTenant>): Promise<PageOf<AnalyticsEvent>> {
    return this.pages.newest(params.tenantId, query);
  }
}
