import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { type AnalyticsEvent, type listEvents, type OperationContext, type PageOf } from '@attestry/contracts';
import { KeyVault } from '@attestry/keys';
import { MessageBus } from '@attestry/messaging';
import { listPage, tenantOf, type RequestOf } from '@attestry/service-kit';
import { EventsReadModel, type EventTables } from '../events.read-model.js';
import { RecordOperations } from '../record-operations/record-operations.js';

export class ListEvents {
  constructor(
    readonly request: RequestOf<typeof listEvents>,
    readonly context: OperationContext,
  ) {}
}

type Builder = ExpressionBuilder<EventTables, 'analytics_events'>;
type ActorColumn = 'client_id' | 'management_user_id';

/** How long a query waits for what was acknowledged before it came (decision 29). */
const WAIT_MS = 250;

/** Times as they are stored: UTC with milliseconds. */
const storedTime = (time: string): string => new Date(time).toISOString();

/** Ids of actors; `none`: nobody of that kind, `*`: anybody of that kind. */
const actors = (eb: Builder, column: ActorColumn, values: readonly string[]): Expression<SqlBool> =>
  eb.or(
    values.map((value) =>
      value === 'none' ? eb(column, 'is', null) : value === '*' ? eb(column, 'is not', null) : eb(column, '=', value),
    ),
  );

@QueryHandler(ListEvents)
export class ListEventsHandler implements IQueryHandler<ListEvents> {
  constructor(
    private readonly readModel: EventsReadModel,
    private readonly writer: RecordOperations,
    private readonly bus: MessageBus,
    private readonly vault: KeyVault,
  ) {}

  async execute({ request: { query }, context }: ListEvents): Promise<PageOf<AnalyticsEvent>> {
    const tenantId = tenantOf(context).id;
    await this.writer.waitFor(await this.bus.head(), WAIT_MS);
    await this.readModel.running.waitForHead(WAIT_MS);
    let events = this.readModel.db.selectFrom('analytics_events').selectAll().where('tenant_id', '=', tenantId);
    const { ids, requestIds, categories, types, clientIds, managementUserIds, dateFrom, dateTo } = query;
    if (ids) events = events.where('id', 'in', nonEmpty(ids));
    if (requestIds) events = events.where('request_id', 'in', nonEmpty(requestIds));
    if (categories || types)
      events = events.where((eb) =>
        eb.or([
          ...(types ? [eb('type', 'in', nonEmpty(types))] : []),
          ...(categories ? [eb('category', 'in', nonEmpty(categories))] : []),
        ]),
      );
    if (clientIds) events = events.where((eb) => actors(eb, 'client_id', clientIds));
    if (managementUserIds) events = events.where((eb) => actors(eb, 'management_user_id', managementUserIds));
    if (dateFrom) events = events.where('time', '>=', storedTime(dateFrom));
    if (dateTo) events = events.where('time', '<=', storedTime(dateTo));

    const { data, nextCursor } = await listPage(events, query, this.vault, ['analytics', tenantId], {
      timeName: 'timestamp',
      direction: 'desc',
      timeColumn: 'time',
      idColumn: 'sort_key',
      key: (row) => ({ time: row.time, id: row.sort_key }),
    });
    return {
      data: data.map((row) => ({
        id: row.id,
        type: row.type,
        timestamp: row.time,
        category: row.category,
        requestId: row.request_id,
        metadata: JSON.parse(row.metadata) as Record<string, unknown>,
        data: null,
        ...(row.client_id !== null && { clientId: row.client_id }),
        ...(row.management_user_id !== null && { managementUserId: row.management_user_id }),
      })),
      ...(nextCursor !== undefined && { nextCursor }),
    };
  }
}

/** `in ()` is no SQL; a list that was given empty matches nothing. */
const nonEmpty = (values: readonly string[]): readonly string[] => (values.length ? values : ['']);
