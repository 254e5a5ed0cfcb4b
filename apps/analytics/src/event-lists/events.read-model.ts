import { Inject, Injectable } from '@nestjs/common';
import { sql, type Kysely, type Transaction } from 'kysely';
import type { RecordedEvent } from '@attestry/event-store';
import { insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, OPERATION_READ_MODELS, ReadModel } from '@attestry/service-kit';
import { openKey } from '../operation-stream/open-operations.js';
import { operationEventId } from '../operation-stream/operation-event-id.js';
import {
  OPERATION_CATEGORY,
  OPERATION_EVENT_TYPES,
  type OperationFact,
  type OperationStreamEvent,
} from '../operation-stream/operation-stream.events.js';
import { actorOf } from './event-actors.js';

export interface EventTables {
  analytics_events: {
    tenant_id: string;
    time: string;
    sort_key: string;
    id: string;
    type: string;
    category: string;
    request_id: string;
    /** See event-actors.ts. */
    actor: string;
    metadata: string;
    /** Sealed; null at logging level 1. */
    data: string | null;
  };
  open_operations: {
    key: string;
    tenant_id: string;
    request_id: string;
    prefix: string;
    category: string;
    operation: string;
    deadline: number;
    committed: number;
    client_id: string | null;
    management_user_id: string | null;
  };
}

const SUFFIX = { OperationStarted: 'START', OperationSucceeded: 'SUCCESS', OperationFailed: 'FAIL' } as const;

const eventRow = (event: RecordedEvent<keyof typeof SUFFIX, OperationFact>): EventTables['analytics_events'] => ({
  tenant_id: event.metadata.tenantId,
  time: event.metadata.occurredAt,
  sort_key: String(event.revision).padStart(10, '0'),
  id: operationEventId(
    event.metadata.tenantId,
    event.metadata.requestId,
    event.type === 'OperationStarted' ? 'start' : 'outcome',
  ),
  type: `${event.data.prefix}_${SUFFIX[event.type]}`,
  category: event.data.category,
  request_id: event.metadata.requestId,
  actor: actorOf(event.data),
  metadata: JSON.stringify(event.data.metadata),
  data: event.data.data ?? null,
});

export const eventsProjection: Projection<EventTables> = {
  name: 'analytics.events',
  version: 2,
  categories: [OPERATION_CATEGORY],
  types: Object.keys(OPERATION_EVENT_TYPES),
  tables: ['analytics_events', 'open_operations'],

  async create(db: Kysely<EventTables>) {
    const text = (name: string) => [name, 'text'] as const;
    let events = db.schema.createTable('analytics_events').ifNotExists();
    for (const [name, type] of ['tenant_id', 'time', 'sort_key', 'id', 'type', 'category', 'request_id', 'actor'].map(
      text,
    ))
      events = events.addColumn(name, type, (column) => column.notNull());
    await events
      .addColumn('metadata', 'text', (column) => column.notNull())
      .addColumn('data', 'text')
      .addPrimaryKeyConstraint('analytics_events_pk', ['tenant_id', 'time', 'sort_key'] as never)
      .execute();
    // Chosen by EXPLAIN of the documented filters, at most three beside the key (ADR 0004: few indexes): by id, which also finds the events
    // of a request; by type, of which a category is a set; by actor. The latter two in the order of the list.
    const indexes = {
      analytics_events_id: ['tenant_id', 'id'],
      analytics_events_type: ['tenant_id', 'type', 'time', 'sort_key'],
      analytics_events_actor: ['tenant_id', 'actor', 'time', 'sort_key'],
    };
    for (const [name, columns] of Object.entries(indexes))
      await db.schema.createIndex(name).ifNotExists().on('analytics_events').columns(columns).execute();
    await db.schema
      .createTable('open_operations')
      .ifNotExists()
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('tenant_id', 'text', (column) => column.notNull())
      .addColumn('request_id', 'text', (column) => column.notNull())
      .addColumn('prefix', 'text', (column) => column.notNull())
      .addColumn('category', 'text', (column) => column.notNull())
      .addColumn('operation', 'text', (column) => column.notNull())
      .addColumn('deadline', 'bigint', (column) => column.notNull())
      .addColumn('committed', 'integer', (column) => column.notNull())
      .addColumn('client_id', 'text')
      .addColumn('management_user_id', 'text')
      .execute();
  },

  async project(trx: Transaction<EventTables>, events: readonly RecordedEvent[]) {
    const rows: EventTables['analytics_events'][] = [];
    const opened = new Map<string, EventTables['open_operations']>();
    const closed: string[] = [];
    const committed: string[] = [];
    for (const stored of events) {
      const event = stored as RecordedEvent & OperationStreamEvent;
      const { tenantId, requestId } = event.metadata;
      const key = openKey(tenantId, requestId);
      switch (event.type) {
        case 'OperationStarted':
          rows.push(eventRow(event));
          opened.set(key, {
            key,
            tenant_id: tenantId,
            request_id: requestId,
            prefix: event.data.prefix,
            category: event.data.category,
            operation: event.data.operation,
            deadline: event.data.deadline,
            committed: 0,
            client_id: event.data.clientId ?? null,
            management_user_id: event.data.managementUserId ?? null,
          });
          break;
        case 'OperationSucceeded':
        case 'OperationFailed':
          rows.push(eventRow(event));
          if (!opened.delete(key)) closed.push(key);
          break;
        case 'OperationCommitted': {
          const open = opened.get(key);
          if (open) open.committed = 1;
          else committed.push(key);
          break;
        }
      }
    }
    await insertRows(trx, 'analytics_events', rows);
    await insertRows(trx, 'open_operations', [...opened.values()]);
    if (committed.length)
      await trx.updateTable('open_operations').set({ committed: 1 }).where('key', 'in', committed).execute();
    if (closed.length) await trx.deleteFrom('open_operations').where('key', 'in', closed).execute();
  },
};

/** Analytics rows, and which operations are open. */
@Injectable()
export class EventsReadModel extends ReadModel<EventTables> {
  constructor(@Inject(OPERATION_READ_MODELS) readModels: ReadModels, health: Health) {
    super(readModels, health, eventsProjection);
  }

  get db(): Kysely<EventTables> {
    return this.running.db;
  }

  async discardBefore(time: string): Promise<void> {
    await this.db
      .deleteFrom('analytics_events')
      .where(sql<boolean>`${sql.ref('time')} < ${time}`)
      .execute();
  }
}
