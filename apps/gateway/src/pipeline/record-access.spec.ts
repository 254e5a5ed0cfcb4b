import { exportEvents, forbidden, listEvents, listTenantEvents, listEventTypes, notFound } from '@attestry/contracts';
import { exchangeOf, NOW, RECORDED_AT, recordsOf, TENANT } from './exchange.spec-fixture.js';
import { planOf } from './plan.js';
import { readsTrail, recordExport, recordRead, recordRefusedAccess } from './record-access.js';

const NAMED = '11111111-1111-4111-8111-11111111111a';
const CLIENT = { kind: 'client' as const, clientId: 'c1', roles: [] };
const common = {
  ...{ category: 'access', requestId: 'r1', startedAt: RECORDED_AT, endedAt: RECORDED_AT },
  ...{ operation: 'dids.list-dids', object: { type: 'operation', id: 'dids.list-dids' } },
};
const REFUSED = { error: { status: 403, code: 'Forbidden', message: 'x' } };
const MANAGEMENT = { api: 'management' as const, publicUrl: 'https://m' };

describe('a 403', () => {
  const refused = async (
    known: object,
    { error = forbidden('x'), lost = false, tenant = undefined as object | undefined } = {},
  ) => {
    const { records, asked, logged, used } = recordsOf({ lost, ...(tenant && { tenant }) });
    await recordRefusedAccess(exchangeOf({}, {}, known), used, error);
    return { records, asked, logged };
  };

  it('of a client is a record of access of its tenant, counted with its others [T877]', async () => {
    const call = { client: 'client:c1', check: 'refused FAIL' };
    const record = { ...common, tenantId: TENANT.id, clientId: 'c1', prefix: 'ACCESS_REFUSED', outcome: 'FAIL' };
    const { records, asked } = await refused({ caller: CLIENT, context: undefined });
    expect(records).toEqual([['addRepeatable', { ...record, metadata: REFUSED, call }]]);
    expect(asked).toEqual([]);
  });

  it.each([
    ['a wallet', { caller: { kind: 'holder' } }],
    ['a public call', { caller: { kind: 'public' } }],
    ['a caller without credentials', { caller: undefined, context: undefined }],
    ['a request without a route', { caller: CLIENT, plan: undefined }],
    ['a management call about no tenant', { caller: { kind: 'user', userId: 'u1' }, host: MANAGEMENT, params: {} }],
    ['a malformed tenant', { caller: { kind: 'user', userId: 'u1' }, host: MANAGEMENT, params: { tenantId: '../x' } }],
  ])('of %s is not recorded [T877]', async (_, known) => {
    const { records, asked } = await refused(known, { tenant: { membership: { roles: [] } } });
    expect([records, asked]).toEqual([[], []]);
  });

  it('of a person is one of the tenant that it names, if the person is a member [T877]', async () => {
    const known = {
      caller: { kind: 'user', userId: 'u1' },
      host: MANAGEMENT,
      params: { tenantId: NAMED.toUpperCase() },
    };
    const { records, asked } = await refused(known, { tenant: { membership: { roles: ['verifier'] } } });
    expect(asked).toEqual([['management.retrieve-tenant', { params: { tenantId: NAMED } }, expect.any(Number)]]);
    expect(records).toMatchObject([['addRepeatable', { tenantId: NAMED, managementUserId: 'u1', metadata: REFUSED }]]);
    expect((await refused(known)).records).toEqual([]);
  });

  it('is the only error that is recorded', async () => {
    expect((await refused({ caller: CLIENT }, { error: notFound() })).records).toEqual([]);
  });

  it('is answered although its record is lost, which is logged', async () => {
    const { logged } = await refused({ caller: CLIENT }, { lost: true });
    const line = { requestId: 'r1', operation: 'dids.list-dids', tenantId: TENANT.id, error: 'Error: disk full' };
    expect(logged).toEqual([[line, 'operation event not recorded']]);
  });
});

describe('a read of the trail', () => {
  it('is one of the operations that return its entries', () => {
    expect([listEvents, listTenantEvents, exportEvents, listEventTypes].map(readsTrail)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it.each([
    ['tenant API', listEvents, { caller: CLIENT }, TENANT.id, { clientId: 'c1' }],
    [
      'management API',
      listTenantEvents,
      { caller: { kind: 'user', userId: 'u1' }, host: MANAGEMENT, params: { tenantId: NAMED.toUpperCase() } },
      NAMED,
      { managementUserId: 'u1' },
    ],
  ])('by the %s is recorded with the number of entries [T878]', async (_, operation, known, tenantId, actor) => {
    const { records, used } = recordsOf();
    const result = { data: [{}, {}] };
    await recordRead(exchangeOf({}, {}, { plan: planOf(operation, 1), result, ...known } as never), used);
    expect(records).toMatchObject([
      [
        'addRepeatable',
        { tenantId, ...actor, prefix: 'EVENT_RETRIEVE_LIST', outcome: 'SUCCESS', metadata: { entriesCount: 2 } },
      ],
    ]);
  });

  it.each([
    [{ count: 3, sha256: 'abc=' }, 'SUCCESS', { entriesCount: 3, contentDigest: 'sha-256=:abc=:' }],
    [{ count: 2 }, 'FAIL', { entriesCount: 2 }],
  ])('by an export is recorded: %j is a %s [T878]', async (sent, outcome, metadata) => {
    const { records, used } = recordsOf();
    await recordExport(
      exchangeOf({}, {}, { plan: planOf(exportEvents, 1), caller: CLIENT, startedAt: NOW }),
      used,
      sent,
    );
    const call = { client: 'client:c1', check: `exported ${outcome}` };
    expect(records).toMatchObject([['addRepeatable', { prefix: 'EVENT_EXPORT', outcome, metadata, call }]]);
  });
});
