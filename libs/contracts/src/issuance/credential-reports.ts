import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn, Matches, MaxLength } from 'class-validator';
import { defineOperation, requires } from '../operation.js';
import { PageQuery } from '../pagination.js';
import { AdviceOnMissing, Optional, Rule, Unique, Uuid } from '../validators.js';
import { REPORT_PROFILES, REPORTED_PROFILES, type CredentialFormat, type ReportProfile } from './formats.js';

const REPORTED_FORMATS = Object.keys(REPORT_PROFILES) as CredentialFormat[];

/** Most days of a report. */
const MAX_DAYS = 366;
const DAY_MS = 86_400_000;

const DATE = /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$/;
const DATE_MESSAGE = 'must be a date, such as 2026-01-31';
const isDate = (value: unknown): value is string => {
  if (typeof value !== 'string' || !DATE.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
};

/** A date of the calendar, `2026-01-31`. */
const CalendarDate = (): PropertyDecorator => (target, key) => {
  MaxLength(10, { message: DATE_MESSAGE })(target, key as string);
  Rule('calendarDate', (value) => (isDate(value) ? undefined : DATE_MESSAGE))(target, key);
  Matches(DATE, { message: DATE_MESSAGE })(target, key as string);
};

/** The end is not before the start, and at most {@link MAX_DAYS} days are between them; malformed dates are refused by themselves. */
const EndOfReport = (): PropertyDecorator =>
  Rule('endOfReport', (endDate, object) => {
    const { startDate } = object as { startDate?: unknown };
    if (!isDate(startDate) || !isDate(endDate)) return undefined;
    const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS + 1;
    if (days < 1) return 'must not be before startDate';
    return days > MAX_DAYS ? `must be at most ${MAX_DAYS - 1} days after startDate` : undefined;
  });

/** Offsets of time zones are multiples of a quarter of an hour, from -12:00 to +14:00. */
const OFFSET = /^(?:[+-](?:0[0-9]|1[01]):(?:00|15|30|45)|[+-]12:00|\+12:(?:15|30|45)|\+13:(?:00|15|30|45)|\+14:00)$/;
const OFFSET_MESSAGE = 'must be an offset from UTC in quarters of an hour, from -12:00 to +14:00, such as +02:00';
const TimezoneOffset = (): PropertyDecorator => (target, key) => {
  MaxLength(6, { message: OFFSET_MESSAGE })(target, key as string);
  Matches(OFFSET, { message: OFFSET_MESSAGE })(target, key as string);
};

export class CredentialReportRequest extends PageQuery {
  /** Offset of the days from UTC, such as `+02:00`. Default `+00:00`. */
  @Optional() @TimezoneOffset() timezoneOffset?: string;
  /** First day. */
  @CalendarDate() @AdviceOnMissing('the first day, such as 2026-01-31') startDate: string;
  /** Last day, at most 365 days after the first one. */
  @CalendarDate()
  @EndOfReport()
  @AdviceOnMissing('the last day, at most 365 days after startDate')
  endDate: string;
  /** Only credentials of these profiles: `cwt` are the formats `cwt` and `cwt_vc`, `mdoc` is `mso_mdoc`. */
  @Optional()
  @Unique({ message: 'must not contain an entry twice' })
  @IsIn(REPORTED_PROFILES, { each: true, message: `must contain only: ${REPORTED_PROFILES.join(', ')}` })
  @ArrayMaxSize(REPORTED_PROFILES.length, { message: `must have at most ${REPORTED_PROFILES.length} entries` })
  @ArrayNotEmpty({ message: 'must have at least one entry' })
  @IsArray({ message: 'must be an array' })
  profiles?: ReportProfile[];
  /** Only credentials of this format. */
  @Optional()
  @IsIn(REPORTED_FORMATS, { message: `must be one of: ${REPORTED_FORMATS.join(', ')}` })
  format?: CredentialFormat;
  /** Only credentials of this configuration. */
  @Optional() @Uuid() credentialConfigurationId?: string;
}

export const REPORTED_OPERATIONS = ['issued', 'status_changed'] as const;
export type ReportedOperation = (typeof REPORTED_OPERATIONS)[number];

/** Number of credentials of one day with the same operation, configuration and type. */
export class CredentialReportRow {
  /** Day, at the offset of the request. */
  date: string;
  /** `issued`, or `status_changed` for each change of a status. */
  operation: ReportedOperation;
  profile: ReportProfile;
  format: CredentialFormat;
  credentialConfigurationId: string;
  /** Type of the issued credentials. Absent for changes of a status. */
  credentialType?: string;
  count: number;
}

export const reportCredentials = defineOperation({
  name: 'issuance.report-credentials',
  since: 'v3.0.0',
  summary: 'Count the credentials that were issued, and the changes of their status, by day',
  description:
    'Rows are in the order of their dates; days without credentials have none. Credentials of deleted users are counted. The call is no event of its own.',
  http: { method: 'POST', path: '/v1/events/credential-reports', success: 200 },
  kind: 'query',
  access: requires('credential-reports:read'),
  body: CredentialReportRequest,
  example: { timezoneOffset: '+02:00', startDate: '2026-01-01', endDate: '2026-12-31', profiles: ['mdoc'] },
  response: [CredentialReportRow],
  errorStatuses: [400],
});
