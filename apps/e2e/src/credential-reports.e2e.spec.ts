import {
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  settledRecords,
  startPlatform,
  type ManagementApi,
  type RunningPlatform,
  type TenantApi,
  type TenantUnderTest,
  PLATFORM_START_MS,
} from '@attestry/testing';
import { issue, makeIssuer, type Issuer } from './journey.js';

let platform: RunningPlatform;
let management: ManagementApi;
let tenant: TenantUnderTest;
let issuer: Issuer;
/** The days of the test, also when it runs over midnight. */
const startDate = new Date().toISOString().slice(0, 10);
const endDate = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
beforeAll(async () => {
  platform = await startPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'reporting');
  issuer = await makeIssuer(tenant);
  const request = { type: 'Pass', name: 'Pass', issuer: { name: 'University' }, revocable: true };
  const claimMappings = { given_name: { mapFrom: 'claims.given_name' }, note: { mapFrom: 'claims.note' } };
  const revocable = await tenant.api.jwtVc.create({ ...request, claimMappings, issuerDid: issuer.did });
  issuer = { ...issuer, jwtVc: expectStatus(revocable, 201).id };
  const claims = { given_name: 'Ada', note: '=1+1' };
  for (const configuration of [issuer.jwtVc, issuer.jwtVc, issuer.webSemantic])
    await issue(tenant, { credentials: [configuration], claims });
  const { data } = expectStatus(await tenant.api.credentials(), 200);
  const { id } = data.find(({ credentialConfigurationId }) => credentialConfigurationId === issuer.jwtVc)!;
  for (const status of ['suspended', 'invalid'] as const)
    expectStatus(await tenant.api.jwtVc.setStatus(id, { status }), 201);
}, PLATFORM_START_MS);
afterAll(() => platform?.stop());

const reportOf = async (api: TenantApi, more: object = {}) =>
  expectStatus(await api.analytics.credentialReport({ startDate, endDate, ...more }), 200).data;
/** Over the days of the test. */
const sums = async (api: TenantApi, more: object = {}) => {
  const byRow = new Map<string, number>();
  for (const { operation, format, credentialType, count } of await reportOf(api, more)) {
    const row = [operation, format, credentialType ?? '-'].join(' ');
    byRow.set(row, (byRow.get(row) ?? 0) + count);
  }
  return Object.fromEntries(byRow);
};
const ALL = {
  'issued jwt_vc_json Pass': 2,
  'issued ldp_vc Course': 1,
  'status_changed jwt_vc_json -': 2,
};

describe('a credential report', () => {
  it('counts issued credentials and changes of their status [T874]', async () => {
    expect(await sums(tenant.api)).toEqual(ALL);
    expect(await sums(tenant.api, { profiles: ['web-semantic'] })).toEqual({ 'issued ldp_vc Course': 1 });
    expect(await sums(tenant.api, { credentialConfigurationId: issuer.webSemantic })).toEqual({
      'issued ldp_vc Course': 1,
    });
    expect(await sums(tenant.api, { format: 'mso_mdoc' })).toEqual({});
    expect(await sums(tenant.api, { startDate: '2025-01-01', endDate: '2025-12-31' })).toEqual({});
    expect(await sums(tenant.api, { timezoneOffset: '+14:00' })).toEqual(ALL);
  });

  it('is for the roles of its permission, and is no event [T876]', async () => {
    await settledRecords(tenant.api);
    const newest = expectStatus(await tenant.api.analytics.list({ limit: 1 }), 200).data;
    for (const role of ['auditor', 'issuer', 'managed-issuer'] as const)
      expect(await sums(await connectWithRoles(platform, management, tenant, [role]))).toEqual(ALL);
    const verifier = await connectWithRoles(platform, management, tenant, ['verifier']);
    expectStatus(await verifier.analytics.credentialReport({ startDate, endDate }), 403);
    await settledRecords(tenant.api);
    // Creating the clients are the only events meanwhile.
    const since = expectStatus(await tenant.api.analytics.list({ dateFrom: newest[0]!.timestamp, limit: 1000 }), 200);
    expect(new Set(since.data.map(({ category }) => category))).toEqual(
      new Set([newest[0]!.category, 'tenant-client']),
    );
    expectStatus(
      await tenant.api.client.as(undefined).request('POST', '/v1/events/credential-reports', { body: {} }),
      401,
    );
  });

  it('has nothing of another tenant', async () => {
    const neighbor = await createTenantUnderTest(platform, management, 'reporting-neighbor');
    expect(await reportOf(neighbor.api)).toEqual([]);
    expect(await reportOf(neighbor.api, { credentialConfigurationId: issuer.jwtVc })).toEqual([]);
    const { nextCursor: cursor } = expectStatus(
      await tenant.api.analytics.credentialReport({ startDate, endDate, limit: 1 }),
      200,
    );
    const foreign = await neighbor.api.analytics.credentialReport({ startDate, endDate, limit: 1, cursor: cursor! });
    expect(foreign).toMatchObject({ status: 400, body: { details: [{ param: 'cursor', location: 'body' }] } });
  });

  it('names each invalid member with what is allowed [T875]', async () => {
    const body = { startDate: '2025-01-01', endDate: '2026-12-31', timezoneOffset: 'CET', profiles: ['pdf'], limit: 0 };
    const answer = await tenant.api.analytics.credentialReport(body as never);
    expect(answer).toMatchObject({ status: 400, body: { code: 'BadRequest', message: 'Validation Error' } });
    const { details } = answer.body as unknown as { details: { param: string; msg: string; location: string }[] };
    expect(details.every(({ location }) => location === 'body')).toBe(true);
    expect(Object.fromEntries(details.map(({ param, msg }) => [param, msg]))).toMatchObject({
      endDate: 'must be at most 365 days after startDate',
      timezoneOffset: expect.stringContaining('+02:00'),
      profiles: expect.stringContaining('mdoc'),
      limit: 'must be at least 1',
    });
  });

  it('is the same after a restart, and counts credentials of deleted users', async () => {
    const { data } = expectStatus(await tenant.api.credentials(), 200);
    for (const userId of new Set(data.map((credential) => credential.userId)))
      expectStatus(await tenant.api.users.delete(userId), 204);
    expect(await sums(tenant.api)).toEqual(ALL);
    expect(await platform.end()).toBe(0);
    await platform.restart();
    expect(await sums(tenant.api)).toEqual(ALL);
  });
});
