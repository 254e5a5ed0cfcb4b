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
/** Appends of a flow, one for each answer that is acknowledged: offer, token, credential. */
const APPENDS = 3;
/** Reads of streams: that of the user, which is empty, in each flow, and what caches confirm once a second. */
const READS = 1;
const READS_PER_SECOND = 8;
/**
 * Beside the appends and reads of flows, what is done depends on the time that they take: batches of projections, which pause in between, and
 * each second checkpoints and jobs. On a slow machine a credential costs more of it; it is compared as if a flow took 25 ms, as on two cores without other work.
 */
const FLOWS_PER_SECOND = 40;

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

    /** Work that was begun before ends first. */
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
      const all = trafficBetween(before, await counter.readAll(), 1);
      const counted = (performance.now() - start) / 1000;
      const withoutIdle = (kind: 'commits' | 'syncs' | 'statements') => all[kind] - still[kind] * counted;
      /** The pace of flows differs between machines, and is evened out. */
      const ofOne = (kind: 'commits' | 'syncs' | 'statements', ofFlow: number) =>
        ofFlow + Math.max(0, withoutIdle(kind) - ofFlow * FLOWS) / seconds / FLOWS_PER_SECOND;
      const [commits, syncs, statements] = [
        ofOne('commits', APPENDS + READS),
        ofOne('syncs', APPENDS),
        ofOne('statements', APPENDS + READS),
      ];
      process.stderr.write(
        `    ${commits.toFixed(2)} commits, ${syncs.toFixed(2)} flushes, ${statements.toFixed(2)} statements; a flow took ${Math.round((seconds * 1000) / FLOWS)} ms\n`,
      );
      // The number of appends does not depend on the time.
      expect(all.appends / FLOWS).toBeCloseTo(APPENDS, 1);
      expect(all.streamReads).toBeLessThanOrEqual(READS * FLOWS + READS_PER_SECOND * counted);
      expect(commits).toBeLessThan(7);
      expect(syncs).toBeLessThan(3.5);
      expect(statements).toBeLessThan(10);
    }, 300_000);
  },
  COUNTED_SERVER,
);
