/** @engines embedded postgres */
import {
  reportCredentials,
  type AppError,
  type ClientContext,
  type CredentialFormat,
  type CredentialReportRow,
  type PageOf,
} from '@attestry/contracts';
import { insertRows, type RunningProjection } from '@attestry/read-model';
import { checkRequest } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { EnginesUnderTest } from '@attestry/testing/services';
import {
  credentialReports,
  CredentialReportsReadModel,
  quarterOf,
  type CredentialReportTables,
} from '../credential-reports/credential-reports.read-model.js';
import { ReportCredentials } from './report-credentials.js';

const T1 = '11111111-1111-4111-8111-111111111111';
const T2 = '22222222-2222-4222-8222-222222222222';
const CONFIGURATION = '33333333-3333-4333-8333-333333333333';
const OTHER = '44444444-4444-4444-8444-444444444444';

const service = new EnginesUnderTest();
let running: RunningProjection<CredentialReportTables>;
const rowOf = (
  time: string,
  credentials: number,
  more: Partial<CredentialReportTables['issuance_credential_reports']> = {},
) => ({
  tenant_id: T1,
  quarter: quarterOf(`${time}:00.000Z`),
  operation: 'issued' as const,
  format: 'mso_mdoc' as CredentialFormat,
  configuration_id: CONFIGURATION,
  type: 'mDL',
  credentials,
  ...more,
});
beforeAll(async () => {
  await service.open();
  running = await service.engines.readModels.start(credentialReports);
  await waitUntil(() => running.readsOwnVersion, { what: 'the tables' });
  const rows = [
    rowOf('2026-02-28T22:00', 1),
    rowOf('2026-02-28T23:45', 2),
    rowOf('2026-03-01T00:00', 4),
    rowOf('2026-03-01T12:30', 8, { type: 'Zeugnis' }),
    rowOf('2026-03-01T12:30', 16, { format: 'cwt_vc', configuration_id: OTHER, type: 'Pass' }),
    rowOf('2026-03-01T12:45', 32, { format: 'cwt', configuration_id: OTHER, type: 'Pass' }),
    rowOf('2026-03-01T13:00', 64, { operation: 'status_changed', type: '' } as never),
    rowOf('2026-03-01T23:45', 128),
    rowOf('2026-06-30T10:00', 256, { format: 'dc+sd-jwt' }),
    rowOf('2026-03-01T12:30', 1000, { tenant_id: T2 }),
  ];
  await running.db.transaction().execute((trx) => insertRows(trx, 'issuance_credential_reports', rows));
});
afterAll(() => service.remove());

/** The body as the endpoint checks it. */
const report = async (body: object, tenantId = T1, readsOwnVersion = true): Promise<PageOf<CredentialReportRow>> => {
  const reports = new CredentialReportsReadModel(undefined as never, undefined as never);
  reports.running = { db: running.db, readsOwnVersion, ownWrites: async () => true } as typeof running;
  const handler = new ReportCredentials(reports, service.engines.vault.macs);
  const checked = checkRequest(reportCredentials, { params: {}, query: {}, body, strict: true });
  const tenant = { id: tenantId, host: 'h', baseUrl: 'http://h' };
  return handler.execute(checked as never, { tenant } as ClientContext);
};
const all = async (body: object, limit: number, tenantId = T1): Promise<CredentialReportRow[]> => {
  const rows: CredentialReportRow[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await report({ ...body, limit, ...(cursor !== undefined && { cursor }) }, tenantId);
    expect(page.data.length).toBeLessThanOrEqual(limit);
    rows.push(...page.data);
    cursor = page.nextCursor;
  }
  return rows;
};
const MARCH_1 = { startDate: '2026-03-01', endDate: '2026-03-01' };
const YEAR = { startDate: '2026-01-01', endDate: '2026-12-31' };
const counts = (rows: readonly CredentialReportRow[]) => rows.map(({ date, count }) => [date, count]);
const faultsOf = async (body: object) => {
  try {
    await report(body);
  } catch (error) {
    return (error as AppError).details!.map(({ param, msg }) => [param, msg]);
  }
  throw new Error('nothing was refused');
};

describe('a credential report', () => {
  it('has a row for each day, operation, format, configuration and type [T874]', async () => {
    const mdoc = { profile: 'mdoc', format: 'mso_mdoc', credentialConfigurationId: CONFIGURATION };
    const cwt = { profile: 'cwt', credentialConfigurationId: OTHER, credentialType: 'Pass' };
    const date = '2026-03-01';
    expect(await report(MARCH_1)).toEqual({
      data: [
        { date, operation: 'issued', ...cwt, format: 'cwt', count: 32 },
        { date, operation: 'issued', ...cwt, format: 'cwt_vc', count: 16 },
        { date, operation: 'issued', ...mdoc, credentialType: 'Zeugnis', count: 8 },
        { date, operation: 'issued', ...mdoc, credentialType: 'mDL', count: 132 },
        { date, operation: 'status_changed', ...mdoc, count: 64 },
      ],
    });
  });

  it.each([
    ['+00:00', [['2026-03-01', 132]]],
    ['+00:15', [['2026-03-01', 6]]],
    ['+02:00', [['2026-03-01', 7]]],
    ['-00:15', [['2026-03-01', 128]]],
    ['-12:00', [['2026-03-01', 128]]],
    ['+14:00', [['2026-03-01', 7]]],
  ])('has the days at the offset %s [T874]', async (timezoneOffset, expected) => {
    const { data } = await report({ ...MARCH_1, timezoneOffset });
    expect(counts(data.filter(({ credentialType }) => credentialType === 'mDL'))).toEqual(expected);
  });

  it('has no more than the days of its period, both included', async () => {
    const days = async (startDate: string, endDate: string) =>
      new Set((await report({ startDate, endDate })).data.map(({ date }) => date));
    expect(await days('2026-02-27', '2026-02-28')).toEqual(new Set(['2026-02-28']));
    expect(await days('2026-02-28', '2026-03-01')).toEqual(new Set(['2026-02-28', '2026-03-01']));
    expect(await days('2026-03-02', '2026-06-29')).toEqual(new Set());
    expect(await days('2025-06-30', '2026-06-30')).toEqual(new Set(['2026-02-28', '2026-03-01', '2026-06-30']));
  });

  it.each([
    [{ profiles: ['mdoc'] }, [3, 8, 132, 64]],
    [{ profiles: ['cwt'] }, [32, 16]],
    [{ profiles: ['cwt', 'sd-jwt'] }, [32, 16, 256]],
    [{ format: 'cwt_vc' }, [16]],
    [{ format: 'cwt_vc', profiles: ['mdoc'] }, []],
    [{ credentialConfigurationId: OTHER }, [32, 16]],
    [{ credentialConfigurationId: OTHER, format: 'cwt' }, [32]],
    [{ credentialConfigurationId: T1 }, []],
  ])('has only credentials that %j selects [T874]', async (filter, expected) => {
    expect((await report({ ...YEAR, ...filter })).data.map(({ count }) => count)).toEqual(expected);
  });

  it.each([1, 2, 3, 6, 7, 100])('is the same in pages of %i [T874]', async (limit) => {
    expect(await all(YEAR, limit)).toEqual((await report(YEAR)).data);
    expect(await all(YEAR, limit)).toHaveLength(7);
  });

  it('continues behind the last row though its day has further ones by then', async () => {
    const first = await report({ ...YEAR, limit: 3 });
    const row = rowOf('2026-03-01T09:00', 5, { format: 'cwt', type: 'Aaa' });
    await running.db.transaction().execute((trx) => insertRows(trx, 'issuance_credential_reports', [row]));
    const rest = await report({ ...YEAR, cursor: first.nextCursor });
    await running.db.deleteFrom('issuance_credential_reports').where('type', '=', 'Aaa').execute();
    expect([...first.data, ...rest.data]).toEqual((await report(YEAR)).data);
  });

  it('has nothing of another tenant, and its cursors are of one tenant and report', async () => {
    expect(counts(await all(YEAR, 100, T2))).toEqual([['2026-03-01', 1000]]);
    const { nextCursor: cursor } = await report({ ...YEAR, limit: 1 });
    const refused = { kind: 'invalid', details: [{ param: 'cursor', location: 'body' }] };
    await expect(report({ ...YEAR, cursor }, T2)).rejects.toMatchObject(refused);
    for (const other of [{ profiles: ['mdoc'] }, { timezoneOffset: '+01:00' }, { endDate: '2026-12-30' }])
      await expect(report({ ...YEAR, ...other, cursor })).rejects.toMatchObject(refused);
  });

  it('is refused until it is built', async () => {
    await expect(report(YEAR, T1, false)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  const OFFSET = 'must be an offset from UTC in quarters of an hour, from -12:00 to +14:00, such as +02:00';
  const DATE = 'must be a date, such as 2026-01-31';
  it.each<[string, object, string]>([
    ['startDate', { startDate: undefined }, 'is required: the first day, such as 2026-01-31'],
    ['endDate', { endDate: undefined }, 'is required: the last day, at most 365 days after startDate'],
    ['startDate', { startDate: '2026-02-29' }, DATE],
    ['startDate', { startDate: '2026-1-1' }, DATE],
    ['startDate', { startDate: '2026-01-01T00:00:00Z' }, DATE],
    ['endDate', { endDate: 20261231 }, DATE],
    ['endDate', { endDate: '2025-12-31' }, 'must not be before startDate'],
    ['endDate', { endDate: '2027-01-02' }, 'must be at most 365 days after startDate'],
    ['timezoneOffset', { timezoneOffset: 'Z' }, OFFSET],
    ['timezoneOffset', { timezoneOffset: '+2:00' }, OFFSET],
    ['timezoneOffset', { timezoneOffset: '+02:10' }, OFFSET],
    ['timezoneOffset', { timezoneOffset: '+14:15' }, OFFSET],
    ['timezoneOffset', { timezoneOffset: '-12:15' }, OFFSET],
    ['timezoneOffset', { timezoneOffset: 'Europe/Zurich' }, OFFSET],
    ['profiles', { profiles: 'mdoc' }, 'must be an array'],
    ['profiles', { profiles: [] }, 'must have at least one entry'],
    ['profiles', { profiles: ['mdoc', 'pdf'] }, 'must contain only: web-semantic, jwt-vc, sd-jwt, cwt, mdoc'],
    ['profiles', { profiles: ['mdoc', 'mdoc'] }, 'must not contain an entry twice'],
    ['format', { format: 'csv' }, 'must be one of: ldp_vc, jwt_vc_json, dc+sd-jwt, cwt, cwt_vc, mso_mdoc'],
    ['credentialConfigurationId', { credentialConfigurationId: 'x' }, 'must be a UUID'],
    ['limit', { limit: 1001 }, 'must be at most 1000'],
    ['limit', { limit: 'many' }, 'must be an integer'],
    ['cursor', { cursor: 'x' }, 'must be a nextCursor of this report'],
  ])('refuses an invalid %s, and names what is allowed: %j [T875]', async (param, more, msg) => {
    expect(await faultsOf({ ...YEAR, ...more })).toContainEqual([param, msg]);
  });

  it('names every invalid member at once, and unknown ones [T875]', async () => {
    const faults = await faultsOf({ startDate: 'x', endDate: 'y', timezoneOffset: 'z', limit: 0, period: 'all' });
    expect(new Set(faults.map(([param]) => param))).toEqual(
      new Set(['startDate', 'endDate', 'timezoneOffset', 'limit', 'period']),
    );
  });

  it('may have 366 days', async () => {
    expect(await report({ startDate: '2026-01-01', endDate: '2027-01-01' })).toEqual(await report(YEAR));
  });
});
