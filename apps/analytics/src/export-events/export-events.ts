import { exportEvents, type AnalyticsEvent, type ClientContext, type PageOf } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { EventPages } from '../event-lists/event-pages.js';

/** Lines the gateway has in memory at a time; a message on the bus stays below 1 MiB. */
const PAGE = 500;

/** One page of an export; the gateway requests the next one when its caller has read this one. */
@Operation(exportEvents)
export class ExportEvents {
  constructor(private readonly pages: EventPages) {}

  async execute(
    { query: { format: _, ...filters }, page }: RequestOf<typeof exportEvents>,
    { tenant }: ClientContext,
  ): Promise<PageOf<AnalyticsEvent>> {
    return this.pages.oldest(tenant.id, filters, { limit: PAGE, cursor: page?.cursor });
  }
}
