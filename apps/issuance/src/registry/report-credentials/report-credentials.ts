import { createHash } from 'node:crypto';
import {
  invalidBody,
  REPORT_PROFILES,
  reportCredentials,
  unavailable,
  type ClientContext,
  type CredentialFormat,
  type CredentialReportRow,
  type PageOf,
} from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { countFittingEntries, InvalidCursor, type CursorKey } from '@attestry/read-model';
import { DEFAULT_LIMIT, listCursors, Operation, type RequestOf } from '@attestry/service-kit';
import {
  CredentialReportsReadModel,
  type Group,
  type ReportFilters,
} from '../credential-reports/credential-reports.read-model.js';
import { dayOf, startOf } from './report-days.js';

type Body = RequestOf<typeof reportCredentials>['body'];

const formatsOf = ({ profiles, format }: Body): CredentialFormat[] | undefined => {
  if (!profiles && format === undefined) return undefined;
  const all = Object.keys(REPORT_PROFILES) as CredentialFormat[];
  return all.filter(
    (one) => (format === undefined || one === format) && (profiles?.includes(REPORT_PROFILES[one]) ?? true),
  );
};

const keyOf = ({ operation, format, configuration_id, type }: Group): string =>
  JSON.stringify([operation, format, configuration_id, type]);
/** Types may be longer than a cursor. */
const idOf = (group: Group): string => createHash('sha256').update(keyOf(group)).digest('base64url');
/** Cursors name a day by the time of its begin, as if it was in UTC. */
const timeOf = (date: string): string => `${date}T00:00:00.000Z`;

/** Day by day: one that has no credentials costs nothing. */
@Operation(reportCredentials)
export class ReportCredentials {
  constructor(
    private readonly reports: CredentialReportsReadModel,
    private readonly macs: Macs,
  ) {}

  async execute(
    { body }: RequestOf<typeof reportCredentials>,
    { tenant }: ClientContext,
  ): Promise<PageOf<CredentialReportRow>> {
    const { timezoneOffset = '+00:00', startDate, endDate, limit = DEFAULT_LIMIT, credentialConfigurationId } = body;
    const formats = formatsOf(body);
    const scope = [timezoneOffset, startDate, endDate, formats?.join() ?? '', credentialConfigurationId ?? ''];
    const codec = listCursors(this.macs, [tenant.id, 'credential-reports', ...scope]);
    const after = decoded(() => (body.cursor === undefined ? undefined : codec.decode(body.cursor)));
    // A format that is in none of the profiles.
    if (formats?.length === 0) return { data: [] };
    if (!this.reports.running.readsOwnVersion) throw unavailable('The credential reports are being built');
    await this.reports.running.ownWrites();
    const filters: ReportFilters = {
      ...(formats && { formats }),
      ...(credentialConfigurationId !== undefined && { configurationId: credentialConfigurationId }),
    };
    const days = { tenantId: tenant.id, offset: timezoneOffset, endDate, filters };
    const found: { row: CredentialReportRow; key: CursorKey }[] = [];
    for await (const [date, group] of this.groups(days, after?.time.slice(0, 10) ?? startDate, after?.id)) {
      found.push({ row: rowOf(date, group), key: { time: timeOf(date), id: idOf(group) } });
      if (found.length > limit) break;
    }
    const rows = found.slice(0, limit).map(({ row }) => row);
    const data = rows.slice(0, countFittingEntries(rows));
    const last = found[data.length - 1];
    return { data, ...(last && data.length < found.length && { nextCursor: codec.encode(last.key) }) };
  }

  /** @param after the group of the first day that the last page ended with */
  private async *groups(
    days: { tenantId: string; offset: string; endDate: string; filters: ReportFilters },
    startDate: string,
    after: string | undefined,
  ): AsyncGenerator<[date: string, group: Group]> {
    const { tenantId, offset, endDate, filters } = days;
    const end = startOf(endDate, offset, 1);
    let skipped = after;
    for (let from = startOf(startDate, offset); from < end;) {
      const first = await this.reports.firstQuarter(tenantId, from, end);
      if (first === undefined) return;
      const date = dayOf(first, offset);
      const next = startOf(date, offset, 1);
      const groups = await this.reports.groupsOf(tenantId, startOf(date, offset), next, filters);
      groups.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
      const begin = skipped === undefined ? 0 : groups.findIndex((group) => idOf(group) === skipped) + 1;
      skipped = undefined;
      for (const group of groups.slice(begin)) yield [date, group];
      from = next;
    }
  }
}

const rowOf = (date: string, { operation, format, configuration_id, type, credentials }: Group) => ({
  date,
  operation,
  profile: REPORT_PROFILES[format],
  format,
  credentialConfigurationId: configuration_id,
  ...(type && { credentialType: type }),
  count: credentials,
});

/** @throws AppError 400 about the member of the body */
const decoded = <T>(decode: () => T): T => {
  try {
    return decode();
  } catch (error) {
    if (error instanceof InvalidCursor) throw invalidBody('cursor', 'must be a nextCursor of this report');
    throw error;
  }
};
