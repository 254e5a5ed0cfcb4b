import type { AnalyticsEvent, LoggingLevel } from '@attestry/contracts';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  searchFolders,
  platformMode,
  settledRecords,
  startPlatform,
  TenantApi,
  clientToken,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';
import { makeIssuer, type Issuer } from './journey.js';

const CLAIM = 'canary-claim-Ada-Lovelace';
const TITLE = 'canary-title-of-a-configuration';
const LEVELS: readonly LoggingLevel[] = [1, 2, 3];

interface Place {
  tenant: TenantUnderTest;
  issuer: Issuer;
}
let platform: RunningPlatform;
const places = new Map<LoggingLevel, Place>();
beforeAll(async () => {
  platform = await startPlatform();
  const management = await connectManagement(platform);
  for (const level of LEVELS) {
    const tenant = await createTenantUnderTest(platform, management, `level${level}`);
    places.set(level, { tenant, issuer: await makeIssuer(tenant) });
  }
  const levels = Object.fromEntries([2, 3].map((level) => [places.get(level as LoggingLevel)!.tenant.id, level]));
  await platform.end();
  await platform.restart({ LOGGING_LEVEL_TENANTS: JSON.stringify(levels) });
  for (const { tenant } of places.values())
    tenant.api = new TenantApi(tenant.url, await clientToken(platform, tenant.url, tenant.admin));
}, 2 * PLATFORM_START_MS);
afterAll(async () => platform?.stop());

/** `data` of the call's START and of its SUCCESS. */
const dataOf = async ({ tenant }: Place, headers: Headers) => {
  await settledRecords(tenant.api);
  const found = expectStatus(await tenant.api.analytics.list({ requestIds: [headers.get('x-request-id')!] }), 200).data;
  const ending = (suffix: string) => found.find(({ type }) => type.endsWith(suffix)) as AnalyticsEvent;
  return { start: ending('_START').data, success: ending('_SUCCESS')?.data };
};

describe.each(LEVELS)('at level %i', (level) => {
  let place: Place;
  beforeAll(() => {
    place = places.get(level)!;
  });

  it('non-personal data is shown from level 2, the rest at level 3', async () => {
    const body = {
      type: `Type${level}`,
      name: TITLE,
      issuer: { name: 'x' },
      claimMappings: { a: { defaultValue: 1 } },
    };
    const answer = await place.tenant.api.jwtVc.create(body);
    expect(answer.status).toBe(201);
    const { start, success } = await dataOf(place, answer.headers);
    if (level === 1) {
      expect([start, success]).toEqual([null, null]);
      return;
    }
    expect(start).toMatchObject({ body: { type: body.type, name: level === 2 ? '***' : TITLE } });
    expect(success).toMatchObject({ body: { id: answer.body.id, name: level === 2 ? '***' : TITLE } });
  });

  it('claims are shown only at level 3, and become unreadable when the user is deleted', async () => {
    const { users } = place.tenant.api;
    const answer = await users.create({ claims: { given_name: CLAIM } });
    const { start, success } = await dataOf(place, answer.headers);
    expect(JSON.stringify(start)).not.toContain(CLAIM);
    expect(JSON.stringify(success).includes(CLAIM)).toBe(level === 3);
    if (level === 1) return;
    expect(success).toMatchObject({ body: { id: answer.body.id } });
    expectStatus(await users.delete(answer.body.id), 204);
    const after = await dataOf(place, answer.headers);
    expect(after.start).toEqual(start);
    expect(after.success).toEqual(level === 3 ? null : success);
  });

  it('codes and values from which they can be derived are never shown', async () => {
    const offer = await place.tenant.api.offers.create({
      credentials: [place.issuer.jwtVc],
      transactionCodeConfiguration: { inputMode: 'text' },
    });
    expect(offer.status).toBe(200);
    const { success } = await dataOf(place, offer.headers);
    const { uri, uriByReference, qrUrl, transactionCode, ...plain } = offer.body;
    const secrets = [uri, uriByReference, qrUrl, transactionCode!];
    for (const secret of secrets) expect(JSON.stringify(success)).not.toContain(secret);
    const hidden = { uri: '***', uriByReference: '***', qrUrl: '***', transactionCode: '***' };
    if (level === 1) expect(success).toBeNull();
    else expect(success).toEqual({ body: { ...plain, ...hidden } });
  });

  it('a refusal records the request, and the reason in the metadata', async () => {
    const answer = await place.tenant.api.users.retrieve('no-uuid');
    expect(answer.status).toBe(400);
    await settledRecords(place.tenant.api);
    const found = expectStatus(
      await place.tenant.api.analytics.list({ requestIds: [answer.headers.get('x-request-id')!] }),
      200,
    ).data;
    expect(found.map(({ data }) => data)).toEqual([null, level === 1 ? null : { params: { id: 'no-uuid' } }]);
    expect(found[0]!.metadata).toMatchObject({ error: { status: 400 } });
  });
});

// Distributed, the data are in other places: canary.e2e.spec.ts explains why.
if (platformMode() !== 'cluster')
  it('no logged data is stored in plain text', async () => {
    const { sightings, files } = await searchFolders([platform.dataDir], [{ name: 'claim', value: CLAIM }]);
    expect(files.length).toBeGreaterThan(3);
    expect(sightings).toEqual([]);
  });
