import { Inject, Injectable } from '@nestjs/common';
import type { AnalyticsEvent, EventFilters, ListEventsQuery, PageOf } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { MessageBus } from '@attestry/messaging';
import { countFitting } from '@attestry/read-model';
import type { Clock } from '@attestry/event-store';
import { CLOCK, DEFAULT_LIMIT, listCursors, OperationRecorders, PlatformConfig } from '@attestry/service-kit';
import { LoggedDataKeys } from '../logged-data/logged-data-keys.js';
import { RecordOperations } from '../record-operations/record-operations.js';
import { namedActor } from './event-actors.js';
import { EventsReadModel, retainedFrom } from './events.read-model.js';
import { loadContents, selectListed, type EventContents, type EventRow } from './select-events.js';

export interface EventPageRequest {
  filters: EventFilters;
  limit: number;
  cursor: string | undefined;
  direction: 'asc' | 'desc';
}

/** Between the end of an export's period and the cursor itself, which has none. */
const END = '~';

/** Pages of a tenant's events, as the API returns them. */
@Injectable()
export class EventPages {
  constructor(
    private readonly readModel: EventsReadModel,
    private readonly writer: RecordOperations,
    private readonly bus: MessageBus,
    private readonly macs: Macs,
    private readonly keys: LoggedDataKeys,
    private readonly config: PlatformConfig,
    private readonly pending: OperationRecorders,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Waits until the events acknowledged before the query are listed. */
  async settled(): Promise<void> {
    await this.pending.flush(this.config.ownWriteMs);
    await this.writer.waitFor(await this.bus.head(), this.config.ownWriteMs);
    await this.readModel.running.ownWrites();
  }

  /** A page of `GET /v1/events`, newest first, with all that was acknowledged before. @throws InvalidCursor */
  async newest(tenantId: string, query: ListEventsQuery): Promise<PageOf<AnalyticsEvent>> {
    const { limit = DEFAULT_LIMIT, cursor, ...filters } = query;
    await this.settled();
    return this.page(tenantId, [], { filters, limit, cursor, direction: 'desc' });
  }

  /**
   * A page of an export, oldest first. Without an end of the period it ends with the newest event when it begins, as an export of a busy
   * tenant would have no end; its cursors begin with this time. @throws InvalidCursor
   */
  async oldest(
    tenantId: string,
    filters: EventFilters,
    { limit, cursor }: Pick<EventPageRequest, 'limit' | 'cursor'>,
  ): Promise<PageOf<AnalyticsEvent>> {
    if (cursor === undefined) await this.settled();
    const { dateTo = await this.endOf(tenantId, filters, cursor) } = filters;
    if (dateTo === undefined) return { data: [] };
    const bounded = { ...filters, dateTo };
    const own = cursor?.slice(cursor.indexOf(END) + 1);
    const page = await this.page(tenantId, ['export', dateTo], {
      ...{ filters: bounded, limit, cursor: own, direction: 'asc' },
    });
    return { ...page, ...(page.nextCursor !== undefined && { nextCursor: `${dateTo}${END}${page.nextCursor}` }) };
  }

  /** Newest time of the selection when its export began; `undefined` when nothing is selected. */
  private async endOf(tenantId: string, filters: EventFilters, cursor?: string): Promise<string | undefined> {
    if (cursor !== undefined) return cursor.slice(0, cursor.indexOf(END));
    const from = retainedFrom(this.clock.now(), this.config);
    const newest = { tenantId, filters, from, direction: 'desc' as const, limit: 1 };
    return (await selectListed(this.readModel.db, newest))[0]?.time;
  }

  /** `list` is part of the cursor's scope. @throws InvalidCursor */
  private async page(
    tenantId: string,
    list: readonly string[],
    { limit, cursor, filters, direction }: EventPageRequest,
  ): Promise<PageOf<AnalyticsEvent>> {
    const codec = listCursors(this.macs, ['analytics', ...list, tenantId], 'timestamp');
    const after = cursor === undefined ? undefined : codec.decode(cursor);
    const from = retainedFrom(this.clock.now(), this.config);
    const selection = { tenantId, filters, from, direction, limit: limit + 1, ...(after && { after }) };
    const { db } = this.readModel;
    const rows = await selectListed(db, selection);
    const shown = rows.slice(0, countFitting(rows.slice(0, limit).map(({ bytes }) => Number(bytes))));
    const last = rows.length > shown.length ? shown.at(-1) : undefined;
    const contents = await loadContents(db, shown);
    const views = shown.flatMap((row) => {
      const own = contents.get(row.id);
      return own ? [this.viewOf({ ...row, ...own })] : [];
    });
    return {
      data: await Promise.all(views),
      ...(last && { nextCursor: codec.encode({ time: last.time, id: last.sort_key }) }),
    };
  }

  private async viewOf(row: EventRow & EventContents): Promise<AnalyticsEvent> {
    return {
      id: row.id,
      type: `${row.prefix}_${row.outcome}`,
      timestamp: row.time,
      category: row.category,
      requestId: row.request_id,
      metadata: row.metadata === null ? {} : (JSON.parse(row.metadata) as Record<string, unknown>),
      data: await this.keys.openLoggedData(row),
      ...namedActor(row.actor),
      ...(row.object_type !== null &&
        row.object_id !== null && { object: { type: row.object_type, id: row.object_id } }),
    };
  }
}
