import { randomUUID } from 'node:crypto';
import type { AnalyticsEvent, PreAuthorizedOffer, PreAuthorizedOfferRequest } from '@attestry/contracts';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  findPostgres,
  findRedisServer,
  KILLED_UNITS_HOOK,
  killAtGap,
  makeHolderKey,
  PLATFORM_START_MS,
  PostgresServer,
  RedisServer,
  skipSuite,
  startEventStoreDbStandIn,
  startPlatformProcess,
  waitUntil,
  Wallet,
  WebhookReceiver,
  type Answer,
  type PlatformProcess,
  type TenantUnderTest,
  type UnitGap,
} from '@attestry/testing';
import { command } from './commands.js';
import { makeIssuer } from './journey.js';

interface Engines {
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** A process killed between two durable steps of a unit of work, and what the next one makes of it. */
const describeGaps = (
  name: string,
  startEngines: () => Promise<Engines>,
  gaps: Record<'credential' | 'offer' | 'knownUser', readonly UnitGap[]>,
): void =>
  describe(`a kill between the steps of a unit of work: ${name}`, () => {
    let engines: Engines;
    let platform: PlatformProcess;
    let tenant: TenantUnderTest;
    let receiver: WebhookReceiver;
    let configurationId: string;
    beforeAll(async () => {
      engines = await startEngines();
      platform = await startPlatformProcess({
        env: { ...engines.env, ACCESS_TOKEN_SECONDS: '3600', WEBHOOK_RETRY_SECONDS: '0,1,1,1,1' },
        preload: KILLED_UNITS_HOOK,
        startTimeoutMs: PLATFORM_START_MS,
      });
      tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'gaps');
      ({ jwtVc: configurationId } = await makeIssuer(tenant));
      receiver = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
      const hook = { events: ['OpenIdCredentialIssued' as const], url: receiver.url };
      expectStatus(await tenant.api.webhooks.create(hook), 201);
    }, 2 * PLATFORM_START_MS);
    afterAll(async () => {
      await platform?.stop();
      await receiver?.close();
      await engines?.stop();
    });

    const dies = async (call: Promise<unknown>): Promise<void> => {
      const outcome = await call.then(
        () => 'answered',
        () => 'unanswered',
      );
      expect(outcome).toBe('unanswered');
      // It ended itself: there is nothing left to kill.
      expect(await platform.end('SIGKILL')).toBe('SIGKILL');
      await platform.restart();
    };
    const request = (claimsToPersist: string[] = []): PreAuthorizedOfferRequest => ({
      credentials: [configurationId],
      claims: { given_name: 'Ada', note: 'a note' },
      claimsToPersist,
    });
    const rowsOf = async (query: Record<string, string>): Promise<AnalyticsEvent[]> =>
      expectStatus(await tenant.api.analytics.list({ limit: 1000, ...query }), 200).data;
    const typesOf = (rows: readonly AnalyticsEvent[]) => rows.map(({ type }) => type);
    const listedUsers = async () =>
      expectStatus(await tenant.api.users.list({ limit: 1000 }), 200).data.map(({ id }) => id);
    const listedCredentials = async (userId: string) =>
      expectStatus(await tenant.api.users.credentials(userId), 200).data.map(({ id }) => id);
    /** Ids of the events whose delivery was acknowledged. */
    const deliveredTo = (userId: string) =>
      new Set(
        receiver.deliveries
          .filter(({ status, body }) => status === 200 && body.event.payload['userId'] === userId)
          .map(({ body }) => body.event.id),
      );

    it.each(gaps.credential)(
      'of a credential, after its %s',
      async (gap) => {
        const offered = expectStatus(await tenant.api.offers.create(request()), 200);
        const wallet = new Wallet();
        const offer = await wallet.resolveOffer(offered.uri);
        const metadata = await wallet.metadata(offer.credential_issuer);
        const token = await wallet.accessToken(offer, metadata);
        const nonce = await wallet.nonce(metadata);
        const proof = await wallet.proof(metadata, configurationId, await makeHolderKey(), nonce);
        const redeem = () =>
          wallet.client.retrieveCredentials({
            issuerMetadata: metadata,
            accessToken: token,
            credentialConfigurationId: configurationId,
            proofs: { jwt: [proof] },
          });
        await killAtGap(platform, { gap, event: 'CredentialIssued' });
        await dies(redeem());
        const isCounted = gap === 'last append';
        const isListed = async () => (await listedCredentials(offered.userId)).length > 0;
        if (isCounted) await waitUntil(isListed);
        else expect(await isListed()).toBe(false);

        // The nonce of the first request is spent from its step on; a fresh one yields the credential.
        const sameNonce = await redeem().then(
          () => 'issued',
          () => 'refused',
        );
        expect(sameNonce).toBe(gap === 'keys' ? 'issued' : 'refused');
        const [credential] = await wallet.credentials(metadata, token, configurationId, [await makeHolderKey()]);
        expect(credential).toEqual(expect.any(String));

        // Counted, listed and delivered: what was answered, and what was stored before the answer was lost.
        const issued = gap === 'keys' || isCounted ? 2 : 1;
        await waitUntil(async () => (await listedCredentials(offered.userId)).length === issued);
        await waitUntil(() => deliveredTo(offered.userId).size === issued);
        expect(await listedCredentials(offered.userId)).toHaveLength(issued);
        const rows = (await rowsOf({ objectId: offered.id })).filter(({ type }) => type.includes('CREDENTIAL'));
        const successes = typesOf(rows).filter((type) => type.endsWith('_SUCCESS'));
        expect(successes).toHaveLength(issued);
        expect(typesOf(rows).filter((type) => type.endsWith('_START'))).toHaveLength(
          issued + typesOf(rows).filter((type) => type.endsWith('_FAIL')).length,
        );
      },
      90_000,
    );

    it.each(gaps.knownUser)(
      'of an offer that changes the claims of a known user, after its %s',
      async (gap) => {
        const { id: userId } = expectStatus(await tenant.api.users.create({ claims: { note: 'before' } }), 201);
        const create = (note: string) => tenant.api.offers.create({ ...request(['note']), userId, claims: { note } });
        const offers = async () =>
          typesOf(await rowsOf({})).filter((type) => type.startsWith('OPENID_PRE_AUTHORIZED_OFFER_CREATE')).length;
        const before = await offers();
        await killAtGap(platform, { gap, event: 'PreAuthorizedOfferCreated' });
        await dies(create('lost'));
        expect(expectStatus(await tenant.api.users.retrieve(userId), 200).claims).toEqual({ note: 'lost' });
        // A success is listed for an offer that exists, and for no other (ADR 0074).
        const stored = gap === 'last append' ? 2 : 0;
        await waitUntil(async () => (await offers()) === before + stored);
        expectStatus(await create('after'), 200);
        expect(expectStatus(await tenant.api.users.retrieve(userId), 200).claims).toEqual({ note: 'after' });
        await waitUntil(async () => (await offers()) === before + stored + 2);
      },
      90_000,
    );

    it.each(gaps.offer)(
      'of an offer with an idempotency key, after its %s',
      async (gap) => {
        const before = await listedUsers();
        const key = randomUUID();
        const body = request(['note']);
        const create = (): Promise<Answer<PreAuthorizedOffer>> =>
          tenant.api.client.request('POST', '/v1/openid/offers/pre-authorized', {
            body,
            headers: { 'Idempotency-Key': key },
          });
        await killAtGap(platform, { gap, event: 'PreAuthorizedOfferCreated' });
        await dies(create());
        let answer = await create();
        await waitUntil(async () => (answer.status === 409 ? ((answer = await create()), false) : true));
        const offered = expectStatus(answer, 200);
        expect(expectStatus(await create(), 200)).toEqual(offered);
        expect((await listedUsers()).filter((id) => !before.includes(id))).toEqual([offered.userId]);
        const rows = await rowsOf({ objectId: offered.id });
        expect(typesOf(rows)).toEqual([expect.stringMatching(/_SUCCESS$/), expect.stringMatching(/_START$/)]);
        const { credentials } = await new Wallet().collect(offered.uri);
        expect(credentials).toHaveLength(1);
        await waitUntil(async () => (await listedCredentials(offered.userId)).length === 1);
      },
      90_000,
    );

    it('leaves everything that was acknowledged', async () => {
      for (const id of await listedUsers()) expectStatus(await tenant.api.users.retrieve(id), 200);
      const ids = (await rowsOf({})).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(
        platform
          .log()
          .split('\n')
          .filter((line) => /"level":"fatal"|"msg":"projection failed"/.test(line)),
      ).toEqual([]);
    });
  });

const everyGap = {
  credential: ['keys', 'single-use values', 'further streams', 'last append'],
  offer: ['keys', 'further streams', 'last append'],
  knownUser: ['further streams'],
} as const;

describeGaps(
  'EventStoreDB (stand-in)',
  async () => {
    const standIn = await startEventStoreDbStandIn();
    return { env: { EVENTSTORE_URL: standIn.url }, stop: async () => standIn.stop() };
  },
  everyGap,
);

const real = process.env['EVENTSTORE_URL'];
if (real === undefined)
  skipSuite('units of work: EventStoreDB', 'EVENTSTORE_URL names no server; the stand-in is tested');
else
  describeGaps(
    'EventStoreDB',
    async () => ({
      env: { EVENTSTORE_URL: real, EVENTSTORE_PREFIX: `gaps${process.pid.toString(36)}${Date.now().toString(36)}` },
      stop: async () => undefined,
    }),
    everyGap,
  );

const [postgres, redis] = [findPostgres(), findRedisServer()];
if (postgres === undefined || redis === undefined)
  skipSuite('units of work: PostgreSQL', 'PostgreSQL or Redis is not installed');
else
  describeGaps(
    'PostgreSQL',
    async () => {
      const [database, values] = await Promise.all([PostgresServer.start(postgres), RedisServer.start(redis)]);
      const env = { DATABASE_URL: database.url(), REDIS_URL: values.url };
      await command('migrate', [], env);
      return { env, stop: async () => void (await Promise.all([database.stop(), values.stop()])) };
    },
    { credential: ['single-use values', 'last append'], offer: ['last append'], knownUser: ['last append'] },
  );
