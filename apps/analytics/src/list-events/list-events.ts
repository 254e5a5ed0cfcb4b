import { listEvents, type AnalyticsEvent, type ClientContext, type PageOf } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { EventPages } from '../event-lists/event-pages.js';

@Operation(listEvents)
export class ListEvents {
  constructor(private readonly pages: EventPages) {}

  async execute({ query }: RequestOf<typeof listEvents>, { tenant }: ClientContext): Promise<PageOf<AnalyticsEvent>> {
    return this.pages.newest(tenant.id, query);
  }
}
