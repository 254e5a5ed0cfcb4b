/** @engines embedded */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  clientToken,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  findPostgres,
  PostgresServer,
  skipSuite,
  startPlatformProcess,
  TenantApi,
  waitUntil,
  WebhookReceiver,
  type ManagementApi,
  type PlatformProcess,
  type TenantUnderTest,
} from '@attestry/testing';
import { command } from './commands.js';
import { issue, makeIssuer, type Issuer } from './journey.js';

const programs = findPostgres();
if (!programs) skipSuite('moving to PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');

(programs ? describe : describe.skip)('moving to PostgreSQL', () => {
  const secrets = {
    MASTER_KEY: randomBytes(32).toString('base64url'),
    MANAGEMENT_CLIENT_ID: 'operator',
    MANAGEMENT_CLIENT_SECRET: randomBytes(24).toString('hex'),
    WEBHOOK_RETRY_SECONDS: '10,10,10',
  };
  const credentials = { client_id: secrets.MANAGEMENT_CLIENT_ID, client_secret: secrets.MANAGEMENT_CLIENT_SECRET };
  let folder: string;
  let postgres: PostgresServer;
  let before: PlatformProcess;
  let after: PlatformProcess | undefined;
  let tenant: TenantUnderTest;
  let issuer: Issuer;
  let steady: WebhookReceiver;
  let flaky: WebhookReceiver;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-moved-'));
    postgres = await PostgresServer.start(programs!);
    before = await startPlatformProcess({ env: secrets });
    tenant = await createTenantUnderTest(before, await connectManagement(before, credentials), 'movers');
    issuer = await makeIssuer(tenant);
    steady = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
    flaky = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
  }, 120_000);
  afterAll(async () => {
    await Promise.all([before?.stop(), after?.stop(), steady?.close(), flaky?.close()]);
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Everything that the lists return. */
  const lists = async (api: TenantApi, management: ManagementApi) => ({
    tenants: expectStatus(await management.tenants.list(), 200).data,
    clients: expectStatus(await management.clients.list(tenant.id), 200).data,
    dids: expectStatus(await api.dids.list(), 200).data,
    jwtVc: expectStatus(await api.jwtVc.list(), 200).data,
    webSemantic: expectStatus(await api.webSemantic.list(), 200).data,
    users: expectStatus(await api.users.list(), 200).data,
    webhooks: expectStatus(await api.webhooks.list(), 200).data,
    // Looking is recorded as well.
    trail: expectStatus(await api.analytics.list({ limit: 200 }), 200).data.filter(
      ({ type }) => !/LIST|TOKEN|RETRIEVE/.test(type),
    ),
  });

  it('keeps all data, repeats no webhook delivery, sends due deliveries, and continues', async () => {
    const url = (receiver: WebhookReceiver) => receiver.url;
    expectStatus(await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssued'], url: url(steady) }), 201);
    const claims = { given_name: 'Ada', note: 'first' };
    const offer = { credentials: [issuer.jwtVc], claims };
    await issue(tenant, offer);
    await issue(tenant, { credentials: [issuer.webSemantic], claims });
    await waitUntil(() => steady.deliveries.length === 2);
    expectStatus(await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssuedSummary'], url: url(flaky) }), 201);
    flaky.respond = () => 503;
    const pending = await issue(tenant, offer);
    await waitUntil(() => steady.deliveries.length === 3 && flaky.deliveries.length === 1);
    const forgotten = expectStatus(await tenant.api.users.create({ claims: { given_name: 'Eve' } }), 201);
    expect((await tenant.api.users.delete(forgotten.id)).status).toBe(204);
    const seen = await lists(tenant.api, await connectManagement(before, credentials));
    expect(seen.users).not.toEqual([]);
    expect(await before.end()).toBe(0);

    const database = { DATABASE_URL: postgres.url(), DATABASE_SCHEMA: 'moved' };
    await command('migrate', [], { ...database, ...secrets });
    const there = `${postgres.url()}?schema=moved`;
    const words = ['--from', before.dataDir, '--to', there, '--keys-from', before.dataDir, '--keys-to', there];
    const summary = JSON.parse(await command('copy-events', words, secrets)) as Record<string, unknown>;
    expect(summary).toMatchObject({ complete: true, keys: { secretsVerify: true }, events: { reordered: 0 } });
    // Again it changes nothing.
    expect(JSON.parse(await command('copy-events', words, secrets))).toMatchObject({
      keys: { added: 0 },
      events: { copied: 0 },
      operations: { copied: 0 },
    });

    flaky.respond = () => 200;
    const firstAttempts = flaky.deliveries.length;
    after = await startPlatformProcess({
      env: { ...secrets, ...database, PORT: String(before.ready.port), DATA_DIR: join(folder, 'data') },
      startTimeoutMs: 60_000,
    });
    // The due delivery continues where it was.
    const due = await flaky.waitFor(({ status }) => status === 200, 30_000);
    expect(due.body.event).toEqual(flaky.deliveries[0]!.body.event);
    expect(due.body.event.payload['userId']).toBe(pending.issued.userId);
    expect([due.verified, flaky.deliveries.length]).toEqual([true, firstAttempts + 1]);
    // Secrets verify, sealed values open.
    const token = await clientToken(after, tenant.url, tenant.admin);
    const api = new TenantApi(tenant.url, token);
    const moved = { ...tenant, token, api };
    const management = await connectManagement(after, credentials);
    await waitUntil(async () => expectStatus(await api.webhooks.list(), 200).data.length === 2);
    expect(await lists(api, management)).toEqual(seen);
    expect((await api.users.retrieve(forgotten.id)).status).toBe(404);
    const { issued } = await issue(moved, offer);
    await steady.waitFor(({ body }) => body.event.payload['userId'] === issued.userId, 15_000);
    await flaky.waitFor(({ body }) => body.event.payload['userId'] === issued.userId, 15_000);
    expect(steady.deliveries.map(({ verified }) => verified)).toEqual([true, true, true, true]);
    expect(flaky.deliveries).toHaveLength(firstAttempts + 2);
    // Operation events continue, although the feed is another one.
    const trail = await waitUntil(async () => {
      const now = (await lists(api, management)).trail;
      return now.length > seen.trail.length && now;
    });
    expect(trail.slice(-seen.trail.length)).toEqual(seen.trail);
  }, 180_000);
});
