import { Transform } from 'class-transformer';
import { IsArray, IsISO8601, IsOptional, IsString, MaxLength, ArrayMaxSize } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';

/** A repeated parameter or a comma list. */
const toList = ({ value }: { value: unknown }) =>
  typeof value === 'string'
    ? value.split(',').filter(Boolean)
    : Array.isArray(value)
      ? value.flatMap((item) => (typeof item === 'string' ? item.split(',').filter(Boolean) : [item]))
      : value;

const TextList = (): PropertyDecorator => (target, key) => {
  IsOptional()(target, key);
  Transform(toList)(target, key as string);
  IsArray({ message: 'must be a list' })(target, key as string);
  ArrayMaxSize(100, { message: 'must have at most 100 entries' })(target, key as string);
  IsString({ each: true, message: 'must be strings' })(target, key as string);
  MaxLength(128, { each: true, message: 'Invalid value' })(target, key as string);
};

export class ListEventsQuery extends PageQuery {
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
  /** Inclusive. */
  @IsOptional() @IsISO8601({ strict: true }, { message: 'must be an ISO 8601 time' }) dateFrom?: string;
  /** Inclusive. */
  @IsOptional() @IsISO8601({ strict: true }, { message: 'must be an ISO 8601 time' }) dateTo?: string;
}

export class AnalyticsEvent {
  id: string;
  /** `<PREFIX>_START`, `_SUCCESS` or `_FAIL` */
  type: string;
  timestamp: string;
  category: string;
  requestId: string;
  metadata: Record<string, unknown>;
  data: null;
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
