/** @engines embedded */
import {
  connectManagement,
  COUNTED_SERVER,
  createTenantUnderTest,
  describeOnPostgres,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  PostgresTrafficCounter,
  startPlatformProcess,
  trafficBetween,
  waitUntil,
  Wallet,
  type PlatformProcess,
} from '@attestry/testing';
import { command } from './commands.js';
import { makeIssuer } from './journey.js';

const FLOWS = 500;
/** Pause of a projection between two batches. */
const REST_SECONDS = 0.25;
/** Checkpoints, and jobs that ask what is due, while there is traffic. */
const JOBS_PER_SECOND = 40;
const MOST_SECONDS = 25;
/** Projections that have rows of a credential, or of what leads to it. */
const PROJECTIONS = 8;

describeOnPostgres(
  'the traffic of one process with PostgreSQL',
  (server) => {
    let counter: PostgresTrafficCounter;
    let platform: PlatformProcess;
    beforeAll(async () => {
      const env = { DATABASE_URL: server().url() };
      await command('migrate', [], env);
      platform = await startPlatformProcess({ env, startTimeoutMs: PLATFORM_START_MS });
      counter = await PostgresTrafficCounter.connect(server());
    }, 2 * PLATFORM_START_MS);
    afterAll(async () => {
      await platform?.stop();
      await counter?.close();
    });

    /** What was begun before ends first. */
    const idle = () =>
      waitUntil(
        async () => {
          const traffic = await counter.perSecond(8);
          return traffic.commits <= 5 && traffic.syncs <= 1 ? traffic : undefined;
        },
        { what: 'at most 5 commits and 1 flush a second', timeoutMs: 60_000 },
      );

    it('is at most 5 commits and 1 flush a second while there is nothing to do [T830]', async () => {
      expect((await idle()).commits).toBeGreaterThan(0);
    }, 120_000);

    it(`is at most 7 commits a credential in ${FLOWS} flows in a row [T831]`, async () => {
      const tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'traffic');
      const { jwtVc } = await makeIssuer(tenant);
      const [wallet, keys] = [new Wallet(), [await makeHolderKey()]];
      const offered = async () => {
        const request = { credentials: [jwtVc], claims: { given_name: 'Ada' } };
        return wallet.resolveOffer(expectStatus(await tenant.api.offers.create(request), 200).uri);
      };
      const metadata = await wallet.metadata((await offered()).credential_issuer);
      const flow = async () => {
        const offer = await offered();
        const token = await wallet.accessToken(offer, metadata);
        expect(await wallet.credentials(metadata, token, jwtVc, keys)).toHaveLength(1);
      };
      for (let n = 0; n < 50; n++) await flow();
      const still = await idle();
      const [before, start] = [await counter.read(), performance.now()];
      for (let n = 0; n < FLOWS; n++) await flow();
      const seconds = (performance.now() - start) / 1000;
      const { commits, syncs, batches, ofEvents } = trafficBetween(before, await counter.read(), FLOWS);
      process.stderr.write(
        `    ${commits.toFixed(2)} commits, ${syncs.toFixed(2)} flushes, ${ofEvents.toFixed(2)} statements on events in ${Math.round((seconds * 1000) / FLOWS)} ms\n`,
      );
      // An append for each answer that is acknowledged, and a read of the user's empty stream.
      expect(ofEvents).toBeLessThan(5.5);
      expect(syncs - (still.syncs * seconds) / FLOWS).toBeLessThan(3.5);
      // The rest depends on the time that the flows take, not on their number.
      expect(batches * FLOWS).toBeLessThan(PROJECTIONS * (seconds / REST_SECONDS + 2));
      const others = (commits - batches - ofEvents) * FLOWS - still.commits * seconds;
      expect(others).toBeLessThan(JOBS_PER_SECOND * seconds);
      // On a machine that is busy with other work the flows take so long that the time decides.
      if (seconds < MOST_SECONDS) expect(commits - (still.commits * seconds) / FLOWS).toBeLessThan(7);
    }, 300_000);
  },
  COUNTED_SERVER,
);
