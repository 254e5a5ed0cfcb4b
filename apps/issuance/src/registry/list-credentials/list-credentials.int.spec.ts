/** @engines embedded postgres */
import {
  listCredentials,
  type ClientContext,
  type CredentialFormat,
  type ListCredentialsQuery,
  type PageOf,
  type TenantCredential,
} from '@attestry/contracts';
import { insertRows, type RunningProjection } from '@attestry/read-model';
import { checkRequest } from '@attestry/service-kit';
import { waitUntil } from '@attestry/testing';
import { analyze, EnginesUnderTest, isOnPostgres, plansOf } from '@attestry/testing/services';
import { type Kysely } from 'kysely';
import { credentialOfRow, users, type UsersReadModel, type UserTables } from '../../users/user/users.read-model.js';
import { ListCredentials } from './list-credentials.js';

type Row = UserTables['issuance_credentials'];

const FEW = { tenantId: '11111111-1111-4111-8111-111111111111', size: 6000 };
const MANY = { tenantId: '22222222-2222-4222-8222-222222222222', size: 36_000 };
const NO_SUCH = '99999999-9999-4999-8999-999999999999';
const FIRST = Date.parse('2026-01-01T00:00:00.000Z');
const FORMATS: CredentialFormat[] = ['jwt_vc_json', 'dc+sd-jwt', 'dc+sd-jwt', 'ldp_vc'];
const STATUSES: Row['status'][] = ['', 'valid', 'suspended', 'invalid', 'valid'];

const FEW_OF_USER = 8;
const uuid = (n: number) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`;
const timeOf = (n: number) => new Date(FIRST + n * 1000).toISOString();
const rowOf = (tenantId: string, n: number): Row => ({
  tenant_id: tenantId,
  id: uuid(n),
  // One user with few credentials, the others with many.
  user_id: uuid(n < 9 ? FEW_OF_USER : n % 7),
  // Two of them at each time.
  issued_at: timeOf(n - (n % 2)),
  configuration_id: uuid(n % 4),
  format: FORMATS[n % 4]!,
  type: `Type${n % 3}`,
  status: STATUSES[n % 5]!,
  record: JSON.stringify({ id: uuid(n) }),
});

const service = new EnginesUnderTest();
let running: RunningProjection<UserTables>;
beforeAll(async () => {
  await service.open();
  running = await service.engines.readModels.start(users);
  await waitUntil(() => running.readsOwnVersion, { what: 'the tables' });
  for (const { tenantId, size } of [FEW, MANY]) {
    const rows = Array.from({ length: size }, (_, n) => rowOf(tenantId, n));
    await running.db.transaction().execute((trx) => insertRows(trx, 'issuance_credentials', rows));
  }
  await analyze(running.db, 'issuance_credentials');
}, 120_000);
afterAll(() => service.remove());

const list = (
  tenantId: string,
  query: ListCredentialsQuery,
  db: Kysely<UserTables> = running.db,
): Promise<PageOf<TenantCredential>> => {
  const handler = new ListCredentials(
    { running: { db, ownWrites: async () => true } } as UsersReadModel,
    service.engines.vault.macs,
  );
  const tenant = { id: tenantId, host: 'h', baseUrl: 'http://h' };
  return handler.execute({ params: {}, body: {}, query }, { tenant } as ClientContext);
};

const PERIOD = { issuedFrom: timeOf(400), issuedTo: timeOf(1400) };
const FILTERS: Omit<ListCredentialsQuery, 'limit' | 'cursor'>[] = [
  {},
  { credentialConfigurationId: uuid(1) },
  { format: 'dc+sd-jwt' },
  { status: 'suspended' },
  { userId: uuid(3) },
  { credentialConfigurationId: uuid(1), format: 'dc+sd-jwt' },
  { credentialConfigurationId: uuid(1), status: 'valid' },
  { credentialConfigurationId: uuid(1), status: 'invalid', format: 'dc+sd-jwt' },
  { format: 'ldp_vc', status: 'invalid' },
  { userId: uuid(FEW_OF_USER) },
  { userId: uuid(FEW_OF_USER), status: 'valid' },
  { userId: uuid(FEW_OF_USER), credentialConfigurationId: uuid(1), format: 'dc+sd-jwt', status: 'valid' },
  // No row has both.
  { credentialConfigurationId: uuid(1), format: 'ldp_vc' },
  { credentialConfigurationId: NO_SUCH },
  { credentialConfigurationId: NO_SUCH, format: 'ldp_vc' },
  { userId: NO_SUCH },
];
const ALL = FILTERS.flatMap((one) => [one, { ...one, ...PERIOD }]);
/** Filtered row by row among the credentials of the user. */
const OF_USER = [
  { userId: uuid(3), status: 'valid' },
  { userId: uuid(3), credentialConfigurationId: uuid(1), format: 'dc+sd-jwt', status: 'valid', ...PERIOD },
] as const;

const isSelected = (row: Row, filters: ListCredentialsQuery): boolean =>
  (filters.userId ?? row.user_id) === row.user_id &&
  (filters.credentialConfigurationId ?? row.configuration_id) === row.configuration_id &&
  (filters.status ?? row.status) === row.status &&
  (filters.format ?? row.format) === row.format &&
  row.issued_at >= (filters.issuedFrom ?? '') &&
  row.issued_at <= (filters.issuedTo ?? '9');

describe('the list of credentials', () => {
  it('has all until the last time of the calendar, which in UTC has a year of five digits [T156]', async () => {
    const until = '9999-12-31T23:59:59-14:00';
    const listed = async (query: ListCredentialsQuery) =>
      (await list(FEW.tenantId, { ...query, limit: 5 })).data.length;
    expect(await listed({ issuedTo: until })).toBe(5);
    expect(await listed({ issuedFrom: until })).toBe(0);
  });

  it.each([...ALL, ...OF_USER])(
    'has the credentials that match %j, oldest first, each on one page [T156]',
    async (filters) => {
      const expected = Array.from({ length: FEW.size }, (_, n) => rowOf(FEW.tenantId, n))
        .filter((row) => isSelected(row, filters))
        .sort((a, b) => (a.issued_at + a.id < b.issued_at + b.id ? -1 : 1));
      const seen: TenantCredential[] = [];
      let cursor: string | undefined;
      do {
        const query = { ...filters, limit: 997, ...(cursor !== undefined && { cursor }) };
        const found = await list(FEW.tenantId, query);
        seen.push(...found.data);
        cursor = found.nextCursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(expected.map((row) => ({ ...credentialOfRow(row), userId: row.user_id })));
    },
  );

  it('shows the status of a credential that has one, and the user', async () => {
    const { data } = await list(FEW.tenantId, { limit: 2 });
    expect(data).toEqual([
      { id: uuid(0), userId: uuid(FEW_OF_USER) },
      { id: uuid(1), userId: uuid(FEW_OF_USER), status: 'valid' },
    ]);
  });

  it.each(ALL)('reads as many rows for %j from large and small tenants [T157]', async (filters) => {
    const read: number[] = [];
    for (const { tenantId } of [FEW, MANY]) {
      const limit = 20;
      const { nextCursor } = await list(tenantId, { ...filters, limit });
      const plans = await plansOf(running.db, async (db) => {
        await list(tenantId, { ...filters, limit }, db);
        if (nextCursor !== undefined) await list(tenantId, { ...filters, limit, cursor: nextCursor }, db);
      });
      for (const { steps } of plans)
        // The branches are scanned, each at most a page.
        expect(steps.filter((step) => /^SCAN(?! credentials$)|^Seq Scan/.test(step))).toEqual([]);
      // The scalar query for the format of a configuration, then the sizes, whose range of time is one of the index, and the records by id.
      for (const { steps } of isOnPostgres(running.db) ? [] : plans)
        for (const step of steps.filter((one) => one.startsWith('SEARCH')))
          if (!/\((tenant_id=\? AND configuration_id|id=\? AND tenant_id)=\?\)$/.test(step))
            expect(step).toMatch(/\(tenant_id=\?.*( AND status=\?| AND user_id=\?)( AND .*issued_at.*)?\)$/);
      read.push(plans.reduce((sum, { rowsRead = 0 }) => sum + rowsRead, 0));
    }
    expect(read[1]).toBe(read[0]);
  });

  it('refuses the cursor of another tenant or of other filters', async () => {
    const { nextCursor: cursor } = await list(FEW.tenantId, { status: 'valid', limit: 5 });
    await expect(list(FEW.tenantId, { status: 'valid', limit: 5, cursor: cursor! })).resolves.toBeDefined();
    for (const [tenantId, filters] of [
      [MANY.tenantId, { status: 'valid' }],
      [FEW.tenantId, { status: 'invalid' }],
      [FEW.tenantId, {}],
      [FEW.tenantId, { status: 'valid', userId: uuid(3) }],
    ] as const)
      await expect(list(tenantId, { ...filters, cursor: cursor! })).rejects.toMatchObject({ code: 'InvalidCursor' });
  });
});

describe('the filters of the list of credentials', () => {
  const check = (query: object) => checkRequest(listCredentials, { params: {}, body: {}, query }).query;
  const TIME = 'must be an ISO 8601 date or time';
  const FORMAT = 'must be one of: ldp_vc, jwt_vc_json, dc+sd-jwt, cwt, cwt_vc, mso_mdoc';
  const STATUS = 'must be one of: valid, suspended, invalid';

  it.each<[keyof ListCredentialsQuery, unknown, string]>([
    ['userId', 'ann', 'must be a UUID'],
    ['userId', '', 'must be a UUID'],
    ['userId', `${uuid(1)}0`, 'must be a UUID'],
    ['userId', [uuid(1), uuid(2)], 'must be a string'],
    ['credentialConfigurationId', 'Membership', 'must be a UUID'],
    ['credentialConfigurationId', [uuid(1)], 'must be a string'],
    ['status', 'revoked', STATUS],
    ['status', 'Valid', STATUS],
    ['status', '', STATUS],
    ['status', ['valid', 'invalid'], STATUS],
    ['format', 'jwt_vc', FORMAT],
    ['format', 'sd-jwt', FORMAT],
    ['format', '', FORMAT],
    ['format', ['cwt'], FORMAT],
    ['issuedFrom', 'yesterday', TIME],
    ['issuedFrom', '', TIME],
    ['issuedFrom', '2026-02-30', TIME],
    ['issuedFrom', '2026-W01-1', TIME],
    ['issuedFrom', [timeOf(0)], TIME],
    ['issuedTo', '1767225600', TIME],
    ['issuedTo', '2026-01-01T25:00:00Z', TIME],
    ['limit', '0', 'must be at least 1'],
    ['limit', '1001', 'must be at most 1000'],
    ['limit', 'ten', 'must be an integer'],
    ['cursor', ['x'], 'must be a string'],
  ])('%s refuses %j: %s', (param, value, msg) =>
    expect(() => check({ [param]: value })).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        details: [expect.objectContaining({ msg, param, location: 'query' })],
      }),
    ),
  );

  it('report every fault at once', () =>
    expect(() => check({ userId: 'x', status: 'x', format: 'x', issuedFrom: 'x', issuedTo: 'x' })).toThrow(
      expect.objectContaining({
        details: ['userId', 'status', 'format', 'issuedFrom', 'issuedTo'].map((param) =>
          expect.objectContaining({ param }),
        ),
      }),
    ));

  it.each<ListCredentialsQuery>([
    { userId: uuid(1), credentialConfigurationId: uuid(2), status: 'valid', format: 'cwt' },
    { issuedFrom: '2026-01-01', issuedTo: '2026-01-01T10:00:00+02:00' },
  ])('accept %j', (query) => expect(check(query)).toEqual(query));

  it('reads a date alone as its first moment in UTC, and times with any offset', async () => {
    const first = await list(FEW.tenantId, { issuedFrom: '2026-01-01', issuedTo: '2026-01-01' });
    expect(first.data.map(({ id }) => id)).toEqual([uuid(0), uuid(1)]);
    const offset = { issuedFrom: '2026-01-01T02:00:02+02:00', issuedTo: '2025-12-31T23:00:02-01:00' };
    expect((await list(FEW.tenantId, offset)).data.map(({ id }) => id)).toEqual([uuid(2), uuid(3)]);
  });

  it('have no credentials from a period that ends before it begins', async () =>
    expect(await list(FEW.tenantId, { issuedFrom: timeOf(9), issuedTo: timeOf(3) })).toEqual({ data: [] }));
});
