import { IsArray, IsISO8601, IsString, MaxLength, ArrayMaxSize } from 'class-validator';
import type { JsonBounds } from '../json-bounds.js';
import { MAX_LOGGED_BYTES } from '../logged-data.js';
import { calledBy, defineOperation, requires } from '../operation.js';
import { PageCursor, PageLimit, type PageQuery } from '../pagination.js';
import { IsRecord, BoundedJson, Normalize, Optional, Rule, Uuid } from '../validators.js';

/** A repeated parameter or a comma list. */
const toList = (value: unknown) =>
  typeof value === 'string'
    ? value.split(',').filter(Boolean)
    : Array.isArray(value)
      ? value.flatMap((item) => (typeof item === 'string' ? item.split(',').filter(Boolean) : [item]))
      : value;

const TextList = (): PropertyDecorator => (target, key) => {
  Optional()(target, key);
  Normalize(toList)(target, key);
  IsArray({ message: 'must be a list' })(target, key as string);
  ArrayMaxSize(100, { message: 'must have at most 100 entries' })(target, key as string);
  IsString({ each: true, message: 'must be strings' })(target, key as string);
  MaxLength(128, { each: true, message: 'Invalid value' })(target, key as string);
};

/** Which events; every member narrows the others, but `categories` and `types`, which are ORed. */
class EventsQuery {
  /** Event ids. */
  @TextList() ids?: string[];
  /** Ids of API calls, as in `x-request-id`. */
  @TextList() requestIds?: string[];
  /** ORed with `types`; everything else is ANDed. */
  @TextList() categories?: string[];
  /** Full event types with suffix. */
  @TextList() types?: string[];
  /** Machine actors; `none` and `*` have their usual meaning. */
  @TextList() clientIds?: string[];
  /** Human actors; `none` and `*` likewise. */
  @TextList() managementUserIds?: string[];
}

/** A date or a time of day; ISO 8601 has weeks and ordinal days besides, which no clock here reads. */
const Time = (): PropertyDecorator => (target, key) => {
  const message = 'must be an ISO 8601 time';
  IsISO8601({ strict: true }, { message })(target, key as string);
  MaxLength(64, { message })(target, key as string);
  Rule('readableTime', (value) => (Number.isNaN(Date.parse(String(value))) ? message : undefined))(target, key);
};

/** Filters of events; times are inclusive. */
export interface EventFilters extends EventsQuery {
  dateFrom?: string;
  dateTo?: string;
}

export class ListEventsQuery extends EventsQuery implements PageQuery {
  @PageLimit() limit?: number;
  @PageCursor() cursor?: string;
  /** Inclusive. */
  @Optional() @Time() dateFrom?: string;
  /** Inclusive. */
  @Optional() @Time() dateTo?: string;
}

export class ExportEventsQuery extends EventsQuery {
  /** Inclusive. */
  @Time() dateFrom: string;
  /** Inclusive. */
  @Time() dateTo: string;
}

export class AnalyticsEvent {
  id: string;
  /** `<PREFIX>_START`, `_SUCCESS` or `_FAIL` */
  type: string;
  timestamp: string;
  category: string;
  requestId: string;
  metadata: Record<string, unknown>;
  /** What was asked and answered, as far as the tenant's logging level lets it be kept; null at level 1. */
  data: Record<string, unknown> | null;
  clientId?: string;
  managementUserId?: string;
}

export const listEvents = defineOperation({
  name: 'analytics.list-events',
  summary: 'Retrieve analytics events, newest first',
  http: { method: 'GET', path: '/v1/events', success: 200 },
  access: requires('analytics:read'),
  errors: 'tenant',
  query: ListEventsQuery,
  response: [AnalyticsEvent],
  errorStatuses: [400, 401, 403],
});

export class EventsOfTenantParams {
  @Uuid() tenantId: string;
}

/** Management decides who may ask. */
export const listEventsOfTenant = defineOperation({
  name: 'analytics.list-events-of-tenant',
  summary: "Retrieve a tenant's analytics events, newest first, for a caller of the management API",
  access: calledBy('management'),
  kind: 'query',
  errors: 'management',
  params: EventsOfTenantParams,
  query: ListEventsQuery,
  response: [AnalyticsEvent],
});

/** The whole period as lines of JSON, oldest first: what pages would show, for programs that keep their own copy. */
export const exportEvents = defineOperation({
  name: 'analytics.export-events',
  summary: 'Export the analytics events of a period as lines of JSON, oldest first',
  http: { method: 'GET', path: '/v1/events/export', success: 200, stream: true },
  access: requires('analytics:read'),
  errors: 'tenant',
  query: ExportEventsQuery,
  response: [AnalyticsEvent],
  errorStatuses: [400, 401, 403],
});

export class EventType {
  /** As in `GET /v1/events` and its filter `types`. */
  type: string;
  category: string;
}

export class EventTypeList {
  data: EventType[];
}

export const listEventTypes = defineOperation({
  name: 'analytics.list-event-types',
  summary: 'Retrieve every type of analytics event with its category',
  http: { method: 'GET', path: '/v1/events/types', success: 200 },
  access: requires('analytics:read'),
  errors: 'tenant',
  response: EventTypeList,
  errorStatuses: [401, 403],
});

/** More than any request or answer that is kept has (see `loggedRequest`). */
const LOGGED: JsonBounds = {
  entries: 3,
  name: MAX_LOGGED_BYTES,
  text: MAX_LOGGED_BYTES,
  depth: 80,
  values: MAX_LOGGED_BYTES,
};

export class SealDataRequest {
  @Uuid() tenantId: string;
  /** Without anything personal; kept under a key of the tenant. */
  @IsRecord() @BoundedJson(LOGGED) general: Record<string, unknown>;
  /** With it; kept under this person's key, and not at all where there is none. */
  @Optional() @Uuid() personId?: string;
  @Optional() @IsRecord() @BoundedJson(LOGGED) personal?: Record<string, unknown>;
}

export class SealedData {
  data: string;
}

/** The gateway records calls and has no keys; nothing of a call goes into the feed in clear. */
export const sealData = defineOperation({
  name: 'analytics.seal-data',
  summary: 'Seal what a call asked or answered, to be recorded',
  access: calledBy('gateway'),
  kind: 'query',
  errors: 'tenant',
  body: SealDataRequest,
  response: SealedData,
});
