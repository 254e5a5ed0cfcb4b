import { IsArray, IsIn, IsString, MaxLength, ArrayMaxSize } from 'class-validator';
import type { JsonBounds } from '../json/json-bounds.js';
import { MAX_LOGGED_BYTES } from '../logged-data.js';
import { calledBy, defineOperation, requires } from '../operation.js';
import { PageCursor, PageLimit, type PageQuery } from '../pagination.js';
import { IsRecord, BoundedJson, BoundedText, Normalize, Optional, Time, Uuid } from '../validators.js';

const EVENT_OUTCOMES = ['SUCCESS', 'FAIL'] as const;
export type EventOutcome = (typeof EVENT_OUTCOMES)[number];

/** A repeated parameter or a comma-separated list. */
const toList = (value: unknown) =>
  typeof value === 'string'
    ? value.split(',').filter(Boolean)
    : Array.isArray(value)
      ? value.flatMap((item) => (typeof item === 'string' ? item.split(',').filter(Boolean) : [item]))
      : value;

const TextList = (): PropertyDecorator => (target, key) => {
  Optional()(target, key);
  Normalize(toList)(target, key);
  IsArray({ message: 'must be an array' })(target, key as string);
  ArrayMaxSize(100, { message: 'must have at most 100 entries' })(target, key as string);
  IsString({ each: true, message: 'must contain only strings' })(target, key as string);
  MaxLength(128, { each: true, message: 'must contain only strings of at most 128 characters' })(target, key as string);
};

/** Filters of analytics events: `categories` and `types` are combined with OR, all others with AND. */
class EventsQuery {
  /** Only events with one of these ids. */
  @TextList() ids?: string[];
  /** Only events of these API calls, by the value of `x-request-id`. */
  @TextList() requestIds?: string[];
  /** Only events of these categories. Combined with `types` by OR, with all other filters by AND. */
  @TextList() categories?: string[];
  /** Only events of these types, with their suffix, for example `DID_CREATE_SUCCESS`. */
  @TextList() types?: string[];
  /** Only events caused by these clients. `*` means any client, `none` means no client. */
  @TextList() clientIds?: string[];
  /** Only events caused by these users of the management API. `*` means any user, `none` means no user. */
  @TextList() managementUserIds?: string[];
  /** Only events about resources of this type, for example `did`. */
  @Optional() @BoundedText(128, 1) objectType?: string;
  /** Only events about the resource with this id. */
  @Optional() @BoundedText(2048, 1) objectId?: string;
  /** Only outcomes of this kind, `SUCCESS` or `FAIL`; START is not an outcome. */
  @Optional()
  @IsIn(EVENT_OUTCOMES, { message: `must be one of: ${EVENT_OUTCOMES.join(', ')}` })
  outcome?: EventOutcome;
}

/** Filters of events; both times are inclusive. */
export interface EventFilters extends EventsQuery {
  dateFrom?: string;
  dateTo?: string;
}

export class ListEventsQuery extends EventsQuery implements PageQuery {
  /** Maximum number of entries of the page. Default 100. A page also ends before its entries have more than 512 KB. */
  @PageLimit() limit?: number;
  /** `nextCursor` of the previous page. Absent for the first page. */
  @PageCursor() cursor?: string;
  /** Start of the period, inclusive. */
  @Optional() @Time() dateFrom?: string;
  /** End of the period, inclusive. */
  @Optional() @Time() dateTo?: string;
}

const EXPORT_FORMATS = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export class ExportEventsQuery extends EventsQuery {
  /** Start of the period, inclusive. Default: the first event that is kept. */
  @Optional() @Time() dateFrom?: string;
  /** End of the period, inclusive. Default: the last event when the export begins. */
  @Optional() @Time() dateTo?: string;
  /** `ndjson` (default): one JSON object per line. `csv`: RFC 4180 with a header. */
  @Optional()
  @IsIn(EXPORT_FORMATS, { message: `must be one of: ${EXPORT_FORMATS.join(', ')}` })
  format?: ExportFormat;
}

export class EventObject {
  /** Type of the resource, for example `did`. */
  type: string;
  id: string;
}

export class AnalyticsEvent {
  id: string;
  /** `<PREFIX>_START`, `<PREFIX>_SUCCESS` or `<PREFIX>_FAIL`. */
  type: string;
  timestamp: string;
  category: string;
  /** `x-request-id` of the API call. */
  requestId: string;
  metadata: Record<string, unknown>;
  /** Data of the request or the response, as far as the tenant's logging level allows; null at level 1. */
  data: Record<string, unknown> | null;
  /** The client that made the call. */
  clientId?: string;
  /** The user of the management API who made the call. */
  managementUserId?: string;
  /** The resource that the call created, changed or read. Absent for calls about several resources or none. */
  object?: EventObject;
}

export const listEvents = defineOperation({
  name: 'analytics.list-events',
  summary: 'Retrieve analytics events, newest first',
  http: { method: 'GET', path: '/v1/events', success: 200 },
  access: requires('analytics:read'),
  query: ListEventsQuery,
  response: [AnalyticsEvent],
  errorStatuses: [400],
});

export class EventsOfTenantParams {
  @Uuid() tenantId: string;
}

/** Management authorizes the caller. */
export const listEventsOfTenant = defineOperation({
  name: 'analytics.list-events-of-tenant',
  summary: 'Retrieve the analytics events of a tenant, newest first, for a caller of the management API',
  access: calledBy('management'),
  kind: 'query',
  params: EventsOfTenantParams,
  query: ListEventsQuery,
  response: [AnalyticsEvent],
});

const EXPORT_COLUMNS: readonly string[] = [
  ...['id', 'type', 'timestamp', 'category', 'requestId', 'clientId', 'managementUserId'],
  ...['object.type', 'object.id', 'metadata', 'data'],
];

/** The entries of `listEvents` in one response, for programs that keep a copy of their own. */
export const exportEvents = defineOperation({
  name: 'analytics.export-events',
  summary: 'Export the analytics events of a period, oldest first',
  description:
    'The response has one JSON object per line (`application/x-ndjson`), or with `format=csv` a header and one record per event, in which ' +
    'a cell that a spreadsheet would take for a formula begins with an apostrophe. The trailers `X-Count` (number of events) and ' +
    '`Content-Digest` (RFC 9530, SHA-256) follow a complete export only.',
  http: {
    method: 'GET',
    path: '/v1/events/export',
    success: 200,
    stream: true,
    csvColumns: EXPORT_COLUMNS,
    otherMediaTypes: ['text/csv'],
  },
  access: requires('analytics:read'),
  query: ExportEventsQuery,
  response: [AnalyticsEvent],
  errorStatuses: [400],
});

export class EventType {
  /** Event type, as in `GET /v1/events` and its filter `types`. */
  type: string;
  category: string;
}

export class EventTypeList {
  data: EventType[];
}

export const listEventTypes = defineOperation({
  name: 'analytics.list-event-types',
  summary: 'Retrieve all types of analytics events with their categories',
  http: { method: 'GET', path: '/v1/events/types', success: 200 },
  access: requires('analytics:read'),
  response: EventTypeList,
});

/** Larger than any request or response that is kept (see `loggedRequest`). */
const LOGGED: JsonBounds = {
  entries: 3,
  name: MAX_LOGGED_BYTES,
  text: MAX_LOGGED_BYTES,
  depth: 80,
  values: MAX_LOGGED_BYTES,
};

export class SealDataRequest {
  @Uuid() tenantId: string;
  /** The data without personal values; encrypted with a key of the tenant. */
  @IsRecord() @BoundedJson(LOGGED) general: Record<string, unknown>;
  /** User whose key encrypts `personal`; without such a key `personal` is not kept. */
  @Optional() @Uuid() personId?: string;
  /** The data with personal values. */
  @Optional() @IsRecord() @BoundedJson(LOGGED) personal?: Record<string, unknown>;
}

export class SealedData {
  data: string;
}

/** The gateway records calls and has no keys, and data of a call must not enter the feed unencrypted. */
export const sealData = defineOperation({
  name: 'analytics.seal-data',
  summary: 'Encrypt data of a request or a response for its analytics event',
  access: calledBy('gateway'),
  kind: 'query',
  body: SealDataRequest,
  response: SealedData,
});
