import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { issueNonce, OPERATIONS, type NonceResponse, type Operation } from '@attestry/contracts';
import {
  ApiClient,
  expectStatus,
  haveCaughtUp,
  lengthenStreams,
  MAIN_THREAD_LIMIT_MS,
  MAIN_THREAD_PROBE,
  MainThread,
  PLATFORM_START_MS,
  waitUntil,
  Wallet,
  type OperationParts,
  type PlatformProcess,
  type ShortStreams,
  type TenantUnderTest,
} from '@attestry/testing';
import { makeHolder, makeProof } from './crash/wallet-proof.js';
import { send } from './budget/send.js';
import { clientOf, rightToken } from './registry/calls.js';
import { closeWorld, openWorld } from './registry/open-world.js';
import { ROWS } from './registry/rows.js';
import { takingUrl } from './registry/things.js';
import type { World } from './registry/world.js';

const LENGTH = 100_000;
/** Times the work for four times the length. */
const MOST_GROWTH = 6;
const SAME = 1.3;
const CATCH_UP_MS = 600_000;

const operations = OPERATIONS.filter(({ http }) => http !== undefined).map((it) => [it.name, it as Operation] as const);
const operation = (name: string): Operation => operations.find(([known]) => known === name)![1];

/** An operation, a call of it and the status of its answer. */
type Reader = [string, (streams: Streams) => OperationParts | Promise<OperationParts>, number];

/** Requests for calls on the long streams, created while these were short. */
interface Streams extends ShortStreams {
  tenant: TenantUnderTest;
  configurationId: string;
  code: string;
  accessToken: string;
}

describe(`a tenant whose streams hold ${LENGTH} events each`, () => {
  let world: World;
  let platform: PlatformProcess;
  let thread: MainThread;
  let long: Streams;
  let quarter: Streams;
  beforeAll(async () => {
    world = await openWorld({
      preload: MAIN_THREAD_PROBE,
      // Counting blocks takes seconds.
      env: { ACCESS_TOKEN_SECONDS: '3600', ADMIN_PORT: '0', OPERATION_TIMEOUT_MS: '30000' },
    });
    platform = world.platform as PlatformProcess;
    long = await makeStreams(world, world.tenant, world.own.jwtVc);
    quarter = await makeStreams(world, world.other, world.foreign.jwtVc);
    await platform.end();
    await lengthenStreams(platform.dataDir, quarter, LENGTH / 4);
    await lengthenStreams(platform.dataDir, long, LENGTH);
    await platform.restart();
    await caughtUp(platform);
    // Nothing is cached.
    await restart();
    thread = await MainThread.of(platform);
  }, PLATFORM_START_MS + CATCH_UP_MS);
  afterAll(async () => world && closeWorld(world));

  const restart = async () => {
    await platform.end();
    await platform.restart();
    await caughtUp(platform);
  };

  const credentialRequest = async ({ tenant, configurationId, accessToken }: Streams): Promise<OperationParts> => {
    const nonce = expectStatus(await new ApiClient(tenant.url).call<NonceResponse>(issueNonce), 200);
    const proof = makeProof(makeHolder(), tenant.url, nonce.c_nonce);
    return { token: accessToken, body: { credential_configuration_id: configurationId, proofs: { jwt: [proof] } } };
  };
  const tokenRequest = ({ code }: Streams): OperationParts => ({
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:pre-authorized_code',
      'pre-authorized_code': code,
    }),
  });
  /** Notification of a response that does not exist. */
  const notification = ({ accessToken: token }: Streams): OperationParts => ({
    ...{ token, body: { notification_id: '11111111-1111-4111-8111-111111111111', event: 'credential_accepted' } },
  });
  const redelivery = async ({ tenant, webhookId }: Streams): Promise<OperationParts> => {
    const [newest] = expectStatus(await tenant.api.webhooks.attempts(webhookId, { limit: 1 }), 200).data;
    return { params: { webhookId, deliveryId: newest!.deliveryId } };
  };
  /** A client token call with a wrong secret: the tenant is looked up before the secret can be compared. */
  const guess = ({ tenant, clientId }: Streams): OperationParts => ({
    body: { client_id: clientId, client_secret: 'wrong', audience: tenant.url, grant_type: 'client_credentials' },
  });
  const guarded: Reader[] = [
    ['management.issue-token', guess, 401],
    ['issuance.retrieve-issuer-metadata', () => ({}), 200],
    ['management.retrieve-tenant', ({ tenantId }) => ({ params: { tenantId } }), 200],
  ];
  const readers: Reader[] = [
    ['management.retrieve-tenant', ({ tenantId }) => ({ params: { tenantId } }), 200],
    ['issuance.exchange-token', tokenRequest, 400],
    ['issuance.issue-credential', credentialRequest, 200],
    ['issuance.record-notification', notification, 400],
    ['issuance.issue-deferred-credential', ({ accessToken: token }) => ({ token, body: { transaction_id: 'x' } }), 400],
    ['issuance.retrieve-pre-authorized-offer', ({ sessionId: id }) => ({ params: { id } }), 200],
    ['webhooks.list-attempts', ({ webhookId }) => ({ params: { webhookId }, query: { limit: 100 } }), 200],
    ['webhooks.redeliver-attempt', redelivery, 202],
  ];
  const call = async (name: string, { tenant }: Streams, parts: OperationParts): Promise<number> => {
    const it = operation(name);
    return send(clientOf({ ...world, tenant }, it, rightToken({ ...world, tenant }, it)), it, parts, {});
  };

  it.each(readers)(
    'answers %s without blocking the main thread when nothing is cached',
    async (name, parts, status) => {
      const right = await parts(long);
      let answered = 0;
      const ms = await thread.heldBy(async () => (answered = await call(name, long, right)));
      expect(answered).toBe(status);
      expect(ms).toBeLessThanOrEqual(MAIN_THREAD_LIMIT_MS);
    },
  );

  it.each(operations)('answers %s without blocking the main thread', async (name, it) => {
    const client = clientOf(world, it, rightToken(world, it));
    let answered = 0;
    const ms = await thread.heldBy(async () => {
      const right = await ROWS[name]!.right(world);
      answered = await send(client, it, right, {});
    });
    expect(answered).toBe(it.http!.success);
    expect(ms).toBeLessThanOrEqual(MAIN_THREAD_LIMIT_MS);
  });

  const blocksOf = async ([name, parts, status]: Reader, streams: Streams) => {
    const right = await parts(streams);
    let answered = 0;
    const blocks = await thread.blocksOf(async () => (answered = await call(name, streams, right)));
    expect([name, answered]).toEqual([name, status]);
    return blocks;
  };
  /** How many times the work of a stream of a quarter of the length is, where that is too much. */
  const growthOver = async (most: number, of: Reader[]) => {
    const grown: string[] = [];
    for (const reader of of) {
      const growth = (await blocksOf(reader, long)) / (await blocksOf(reader, quarter));
      if (growth > most) grown.push(`${reader[0]}: ${growth.toFixed(1)} times`);
    }
    return grown;
  };

  it('does work at most proportional to the length when nothing is cached and no snapshot exists', async () => {
    await platform.end();
    dropSnapshots(platform.dataDir);
    await platform.restart();
    await caughtUp(platform);
    await thread.countBlocks();
    expect(await growthOver(MOST_GROWTH, readers)).toEqual([]);
  }, 60_000);

  // The previous test has left snapshots (ADR 0055).
  it('does the same work for any length after a restart, with snapshots', async () => {
    // The calls above have created more in one of the tenants.
    await matchConfigurations(quarter.tenant, long.tenant);
    for (const [name, parts, status] of guarded) {
      const reader: Reader = [name, parts, status];
      let grown: string[] = [];
      // Jobs of the process that run at the same time are counted too: the smallest of three measurements counts, as in `heldBy`.
      for (let run = 0; run < 3; run++) {
        await restart();
        await thread.countBlocks();
        grown = await growthOver(SAME, [reader]);
        if (grown.length === 0) break;
      }
      expect([name, grown]).toEqual([name, []]);
    }
  }, 120_000);
});

const makeStreams = async (
  { management }: World,
  tenant: TenantUnderTest,
  configurationId: string,
): Promise<Streams> => {
  const { api } = tenant;
  const client = expectStatus(await management.clients.create(tenant.id, { name: 'renamed', roles: ['holder'] }), 201);
  const wallet = new Wallet();
  const offer = expectStatus(await api.offers.create({ credentials: [configurationId] }), 200);
  const resolved = await wallet.resolveOffer(offer.uri);
  const { accessToken } = await wallet.collect(offer.uri);
  const grant = resolved.grants!['urn:ietf:params:oauth:grant-type:pre-authorized_code']!;
  const hook = { events: ['DidCreated' as const], url: await takingUrl() };
  // No delivery for each of the events that the session is lengthened by.
  for (const { id } of expectStatus(await api.webhooks.list({ limit: 100 }), 200).data)
    expectStatus(await api.webhooks.update(id, hook), 200);
  const { id: webhookId } = expectStatus(await api.webhooks.create(hook), 201);
  expectStatus(await api.webhooks.test(webhookId), 202);
  const delivered = async () =>
    expectStatus(await api.webhooks.attempts(webhookId), 200).data.some(({ status }) => status === 'Delivered');
  await waitUntil(delivered, { what: 'the delivery of a test event' });
  return {
    ...{ tenant, tenantId: tenant.id, clientId: client.clientId, sessionId: offer.id, webhookId, configurationId },
    code: grant['pre-authorized_code'],
    accessToken,
  };
};

/** Issuer metadata contain them all: what is compared differs in the length of streams alone. */
const matchConfigurations = async (fewer: TenantUnderTest, more: TenantUnderTest): Promise<void> => {
  const countOf = async ({ api }: TenantUnderTest): Promise<number> =>
    Object.keys((await api.metadata()).body['credential_configurations_supported'] as object).length;
  const missing = (await countOf(more)) - (await countOf(fewer));
  for (let n = 0; n < missing; n++) {
    const name = `Further${n}`;
    const claimMappings = { given_name: { mapFrom: 'claims.given_name' } };
    const request = { type: name, name, issuer: { name: 'Acme' }, claimMappings };
    expectStatus(await fewer.api.jwtVc.create(request), 201);
  }
};

/** A release that folds states in another way has no snapshots either. */
const dropSnapshots = (dataDir: string): void => {
  const db = new DatabaseSync(join(dataDir, 'events.db'));
  db.exec('DELETE FROM snapshots');
  db.close();
};

/** No subscription is behind any more. */
const caughtUp = ({ ready }: PlatformProcess): Promise<boolean> =>
  waitUntil(() => haveCaughtUp([ready.adminPort!]), {
    timeoutMs: CATCH_UP_MS,
    intervalMs: 200,
    what: 'projections and reactions that have caught up',
  });
