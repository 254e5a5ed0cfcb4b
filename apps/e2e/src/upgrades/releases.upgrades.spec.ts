import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVICE_NAMES } from '@attestry/contracts';
import {
  checkOut,
  findNatsServer,
  missingEngines,
  NatsServer,
  repository,
  skipSuite,
  type CheckedOut,
} from '@attestry/testing';
import { checkEverything } from '../faults/everything.js';
import { STOP_MS } from '../faults/replace-processes.js';
import { SHUTDOWN_DELAY_MS, Stage } from '../faults/stage.js';
import { natsUser, passwords } from './nats-users.js';
import { findPredecessor, type Release } from './predecessor.js';
import { Roll } from './roll.js';

// The same seed makes the same calls in the same order.
const SEED = Number(process.env['UPGRADES_SEED'] ?? Date.now() % 1_000_000);
const CLIENTS = Number(process.env['UPGRADES_CLIENTS'] ?? 4);
const SUITE = `upgrades (UPGRADES_SEED=${SEED})`;
/** Ends a test that hangs. */
const LIMIT_MS = 300_000;
/** One process of each service, and both releases of one service at a time. */
const REPLICAS = { gateway: 1, issuance: 1 };
const ORDER = ['gateway', ...SERVICE_NAMES];

const missing = missingEngines({});
if (missing.length)
  skipSuite(SUITE, missing.map(({ name, debian }) => `${name} is not installed (Debian: ${debian})`).join(', '));
if (!process.env['EVENTSTORE_URL']) skipSuite('upgrades on EventStoreDB', 'EVENTSTORE_URL is not set');
const said = (text: string) => process.stderr.write(`    ${text}\n`);

(missing.length ? describe.skip : describe)(SUITE, () => {
  let folder: string;
  let release: Release;
  let previous: CheckedOut;
  let nats: NatsServer;
  let stage: Stage;
  let roll: Roll;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-upgrades-'));
    release = await findPredecessor();
    previous = await checkOut(release.commit);
    const users = { config: join(previous.folder, 'deploy/nats'), env: passwords() };
    nats = await NatsServer.start(findNatsServer()!, join(folder, 'nats'), users);
    stage = await Stage.open(SEED, CLIENTS, {
      build: previous.folder,
      envOf: natsUser,
      engines: { NATS_URL: nats.url },
      // The namespace of the users.
      env: { NATS_NAMESPACE: 'attestry' },
      replicas: REPLICAS,
      signsIn: true,
    });
    roll = new Roll(stage);
  }, LIMIT_MS);
  afterAll(async () => {
    await stage?.close();
    await nats?.stop();
    await rm(folder, { recursive: true });
  }, 60_000);

  /** Rolls all services under load, checks that no call was refused, and that everything acknowledged is there once. */
  const rollAll = async (services: readonly string[], build: string, prepare?: () => Promise<void>) => {
    const { ledger, cluster } = stage;
    const [calls, troubles, replaced] = [ledger.answered.length, ledger.troubles.length, roll.replaced.length];
    const stopBalancing = cluster.balanceByReadiness();
    try {
      await stage.underLoad(async () => {
        await prepare?.();
        await roll.services(services, build);
      });
    } finally {
      stopBalancing();
    }
    const count = ledger.answered.length - calls;
    said(`${services.join(', ')}: ${count} calls, ${ledger.troubles.length - troubles} refused or not answered`);
    expect(ledger.troubles.slice(troubles)).toEqual([]);
    expect(roll.unread()).toEqual([]);
    const stops = roll.replaced.slice(replaced);
    expect(stops).toHaveLength(ORDER.length);
    for (const { code, unreadyAfter, endedAfter } of stops) {
      expect(code).toBe(0);
      expect(unreadyAfter).toBeLessThan(SHUTDOWN_DELAY_MS);
      expect(endedAfter).toBeLessThan(SHUTDOWN_DELAY_MS + STOP_MS);
    }
    await stage.check();
    expect(roll.unread()).toEqual([]);
  };

  /** Steps of an operator before the Deployments roll: the users of NATS, then the migration. */
  const prepare = async () => {
    await nats.useUsersOf(join(repository, 'deploy/nats'));
    await stage.cluster.migrate();
  };

  describe.each([
    ['the gateway first', ORDER],
    ['the gateway last', ORDER.toReversed()],
  ])('%s', (_name, order) => {
    it('rolls from the previous release to this one', () => rollAll(order, repository, prepare), LIMIT_MS);

    // Rights and tables of this release stay, as `helm rollback` leaves them.
    it('rolls back', () => rollAll(order, previous.folder), LIMIT_MS);
  });

  it(
    'everything that was acknowledged is in stream, lists, receiver and audit trail, once',
    async () => {
      stage.ledger.process += 1;
      const verification = stage.verification(stage.ledger);
      await verification.ofEverything();
      verification.compareTrail(await verification.trail());
      await verification.trailsOfTenants();
      expect(stage.ledger.faults).toEqual([]);
      expect(await checkEverything(stage)).toEqual([]);
      expect(roll.unread()).toEqual([]);
      const { users, people, flows, codes, answered, tenants, troubles } = stage.ledger;
      const credentials = [...users, ...people].flatMap((holder) => holder.credentials).length;
      const { length: refreshed } = flows.filter(({ grant }) => grant === 'refresh_token');
      said(
        `${release.version} and this release: ${roll.replaced.length} replacements, ${answered.length} calls, ` +
          `${troubles.length} refused or not answered; ${credentials} credentials, ${codes.length} offers, ` +
          `${flows.length - refreshed} sign-ins, ${refreshed} refreshes, ${users.length + people.length} users, ${tenants.length} tenants, ${stage.sink.received.length} webhook requests`,
      );
      expect(credentials).toBeGreaterThan(100);
    },
    LIMIT_MS,
  );
});
