import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { AnalyticsEvent, exportEvents, OperationContext, PageOf } from '@attestry/contracts';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { EventPages } from '../event-pages.js';

/** Lines the gateway has in memory at a time; a message on the bus stays below 1 MiB. */
const PAGE = 500;

export class ExportEvents {
  constructor(
    readonly request: RequestOf<typeof exportEvents>,
    readonly context: OperationContext,
  ) {}
}

/** One page of an export; the gateway asks for the next when its caller has taken this one. */
@QueryHandler(ExportEvents)
export class ExportEventsHandler implements IQueryHandler<ExportEvents> {
  constructor(private readonly pages: EventPages) {}

  async execute({ request: { query, page }, context }: ExportEvents): Promise<PageOf<AnalyticsEvent>> {
    const cursor = page?.cursor;
    if (cursor === undefined) await this.pages.settled();
    const selection = { filters: query, limit: PAGE, cursor, direction: 'asc' as const };
    return this.pages.page(tenantOf(context).id, 'export', selection);
  }
}
