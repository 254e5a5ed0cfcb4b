import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  killSchedule,
  SeededRandom,
  startPlatformProcess,
  waitUntil,
  type PlatformProcess,
} from '@attestry/testing';
import { Ledger } from './crash/ledger.js';
import { LoadClient, type Scene } from './crash/load.js';
import {
  attemptIds,
  checkDomain,
  checkOperations,
  deliveryErrors,
  readEvents,
  readProjections,
  usersWithoutKey,
} from './crash/verify-folder.js';
import { Verification } from './crash/verify-running.js';
import { WebhookSink } from './crash/webhook-sink.js';
import { makeIssuer } from './journey.js';

// The same seed plays the same kills and the same choices; what meets what is up to the machine.
const SEED = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);
const KILLS = Number(process.env['CRASH_KILLS'] ?? 50);
/** Changes acknowledged before a kill at a set time: on a busy machine there was time for few of them. */
const LEAST_ACKNOWLEDGED = 20;
const CLIENTS = 16;
/** After this number of kills, one more while the platform is starting. */
const KILL_AMID_START = 8;
const LIMIT_MS = 15 * 60_000;

/** A port that no outgoing connection of this machine is given, so that it is still free after each kill. */
const lastingPort = async (random: SeededRandom): Promise<number> => {
  for (;;) {
    const port = random.integer(20_000, 30_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
};

const ENVIRONMENT = {
  LOG_LEVEL: 'warn',
  OPERATION_TIMEOUT_MS: '8000',
  ACCESS_TOKEN_SECONDS: '3600',
  NONCE_SECONDS: '3600',
  WEBHOOK_RETRY_SECONDS: '0,1,1,1,1,1,1,1,1,1',
};

describe(`kill -9 under load (CRASH_SEED=${SEED} CRASH_KILLS=${KILLS})`, () => {
  const random = new SeededRandom(SEED);
  const ledger = new Ledger();
  let platform: PlatformProcess;
  let sink: WebhookSink;
  let scene: Scene;
  let verification: Verification;
  let killsUnderLoad = 0;
  /** Changes acknowledged before each kill. */
  const acknowledged: number[] = [];

  beforeAll(async () => {
    sink = await WebhookSink.start();
    platform = await startPlatformProcess({
      env: { ...ENVIRONMENT, PORT: String(await lastingPort(new SeededRandom(Date.now()))) },
      startTimeoutMs: 120_000,
    });
    const management = await connectManagement(platform);
    const tenant = await createTenantUnderTest(platform, management, 'crash');
    const [environment] = expectStatus(await management.environments.list(), 200).data;
    const { jwtVc } = await makeIssuer(tenant);
    const events = ['OpenIdCredentialIssued', 'OpenIdCredentialIssuedSummary'] as const;
    const hook = await tenant.api.webhooks.create({ events: [...events], url: sink.url('/all') });
    scene = {
      management,
      environmentId: environment!.id,
      tenant,
      configurationId: jwtVc,
      webhookId: expectStatus(hook, 201).id,
      hookUrl: (path) => sink.url(path),
    };
    verification = new Verification(platform, scene, ledger);
  }, 180_000);
  afterAll(async () => {
    await platform?.stop();
    await sink?.close();
  });

  /** Acknowledged to users that were not deleted. */
  const credentialsDue = (): string[] =>
    ledger.users
      .filter(({ life }) => life === 'active')
      .flatMap(({ credentials }) => credentials)
      .sort();

  const load = async (clients: readonly LoadClient[], ms: number): Promise<void> => {
    const working = Promise.all(clients.map((client) => client.runLoad()));
    await pause(ms);
    for (const client of clients) client.stop();
    await working;
  };

  /** Lets the clients work until the time is up, however slow the machine is, or so much is acknowledged, then kills at once. */
  const killUnderLoad = async (clients: readonly LoadClient[], ms: number, most: number): Promise<void> => {
    let count = 0;
    const due = new Promise<void>((resolve) => {
      let least = Infinity;
      const check = () => count >= Math.min(least, most) && resolve();
      const timer = setTimeout(() => {
        least = LEAST_ACKNOWLEDGED;
        check();
      }, ms);
      ledger.onAcknowledged = () => {
        count += 1;
        if (count >= most) clearTimeout(timer);
        check();
      };
    });
    const working = Promise.all(clients.map((client) => client.runLoad()));
    await Promise.race([due, working]);
    const at = performance.now();
    await platform.kill();
    for (const client of clients) client.stop();
    await working;
    ledger.kills.push({ at, until: performance.now() });
    ledger.onAcknowledged = () => {};
    acknowledged.push(count);
    killsUnderLoad += 1;
  };

  const killAmidStart = async (): Promise<void> => {
    const starting = platform.restart().then(
      () => 'ready',
      () => 'ended',
    );
    const { pid } = platform;
    const timer = setTimeout(() => process.kill(pid, 'SIGKILL'), random.integer(100, 900));
    if ((await starting) === 'ready') {
      clearTimeout(timer);
      await platform.kill();
    }
  };

  it(
    'keeps everything that was acknowledged',
    async () => {
      const clients = Array.from({ length: CLIENTS }, (_, index) => new LoadClient(index, SEED, scene, ledger));
      for (const [index, ms] of killSchedule(SEED, KILLS).entries()) {
        ledger.process = index;
        await verification.ofLastProcess(random);
        expect(ledger.faults).toEqual([]);
        // Half of the kills follow an acknowledgement on its heels.
        await killUnderLoad(clients, ms, random.next() < 0.5 ? random.integer(5, 60) : Infinity);
        if (index % KILL_AMID_START === KILL_AMID_START - 1) await killAmidStart();
        await platform.restart();
      }
      ledger.process = KILLS;
      await verification.ofLastProcess(random);
      // On a busy machine there was time for few credentials between the kills.
      while (credentialsDue().length <= KILLS) await load(clients, 500);
      await verification.ofEverything();
      expect(ledger.faults).toEqual([]);
      expect(killsUnderLoad).toBe(KILLS);
      // A reaction may fail and recover; an engine or a projection must not.
      const lines = platform.log().split('\n');
      expect(lines.filter((line) => /"level":"fatal"|"msg":"projection failed"/.test(line))).toEqual([]);
      // Otherwise there was no load, and the test proves nothing.
      const changes = acknowledged.reduce((sum, count) => sum + count, 0);
      expect(changes).toBeGreaterThan(KILLS * 10);
      expect(ledger.unanswered).toBeGreaterThan(KILLS);
      expect(ledger.nonces.length).toBeGreaterThan(KILLS);
      expect(ledger.unavailable).toBeLessThan(ledger.answered.length / 20);
    },
    LIMIT_MS,
  );

  it('records one START and one outcome for every call that changed something', async () => {
    verification.compareTrail(await verification.trail());
    await verification.trailsOfTenants();
    expect(ledger.faults).toEqual([]);
  }, 180_000);

  it('eventually delivers every acknowledged credential', async () => {
    const due = credentialsDue();
    const delivered = () =>
      new Set(
        sink.received
          .filter(({ path, status }) => path === '/all' && status === 200)
          .map(({ body }) => body.event.payload['credential']),
      );
    const missing = () => {
      const there = delivered();
      return due.filter((credential) => !there.has(credential));
    };
    await waitUntil(() => missing().length === 0, { timeoutMs: 60_000, what: 'the last credential' });
    expect(due.length).toBeGreaterThan(KILLS);
    expect(sink.received.some(({ status }) => status === 503)).toBe(true);
  }, 90_000);

  it('leaves a data folder without duplicates', async () => {
    const pending = () => readProjections(platform.dataDir).get('delivery')!;
    await waitUntil(() => pending().length === 0, {
      timeoutMs: 60_000,
      intervalMs: 200,
      what: 'the end of deliveries',
    });
    expect(await platform.end()).toBe(0);
    const faults: string[] = [];
    const domain = readEvents(platform.dataDir, 'events.db', faults);
    const operations = readEvents(platform.dataDir, 'operations.db', faults);
    checkDomain(domain, faults);
    const projected = readProjections(platform.dataDir);
    checkOperations(projected.get('analytics_operations')!, domain, operations, faults);
    expect(faults).toEqual([]);

    // Both events of every credential reached their target; each request that was sent is in the store.
    const started = attemptIds(domain);
    expect(sink.received.filter(({ body }) => !started.has(body.deliveryId))).toEqual([]);
    const gone = new Set(domain.filter(({ type }) => type === 'UserDeleted').map(({ data }) => data['userId']));
    const taken = new Set(
      sink.received
        .filter(({ path, status }) => path === '/all' && status === 200)
        .map(({ body }) => `${body.event.type} ${body.event.id}`),
    );
    const issued = domain.filter(({ type, data }) => type === 'CredentialIssued' && !gone.has(data['userId']));
    const wanted = issued.flatMap(({ id }) => [`OpenIdCredentialIssued ${id}`, `OpenIdCredentialIssuedSummary ${id}`]);
    const missing = wanted.filter((event) => !taken.has(event));
    expect(missing.map((event) => [event, deliveryErrors(domain, event)])).toEqual([]);

    // Projected rows are as many as the events, and as a projection from nothing makes them.
    expect(projected.get('issuance_credentials')).toHaveLength(issued.length);
    // Users that began with an offer have an event of their own only after a change (ADR 0071).
    const users = new Set(
      domain
        .filter(
          ({ type, data }) =>
            type === 'UserCreated' || (type === 'PreAuthorizedOfferCreated' && data['newUser'] === true),
        )
        .map(({ data }) => data['userId']),
    );
    for (const { type, data } of domain)
      if (type === 'UserDeleted' || type === 'UserExpired') users.delete(data['userId']);
    expect(projected.get('issuance_users')).toHaveLength(users.size);
    // Each credential that was counted has its own stream; one that was not counted was not handed out (ADR 0070).
    const recorded = new Set(
      domain.filter(({ type }) => type === 'CredentialRecorded').map(({ data }) => data['credentialId']),
    );
    expect(issued.filter(({ data }) => !recorded.has(data['credentialId']))).toEqual([]);
    // Only recorders of the last start are open: every earlier end was noticed. That of the last process is read with the next start.
    const recorders = projected
      .get('operation_recorders')!
      .map((row) => JSON.parse(row) as { participant: string; closed_at: string | null })
      .filter(({ closed_at }) => closed_at === null);
    expect(new Set(recorders.map(({ participant }) => participant)).size).toBe(recorders.length);
    projected.delete('operation_recorders');
    // A kill between the two steps of a deletion leaves a user without key: terms of the claims are not made again.
    const erased = usersWithoutKey(platform.dataDir);
    const isMadeAgain = (row: string) => {
      const { user_id, part } = JSON.parse(row) as { user_id: string; part: string };
      return part === '' || !erased.has(user_id);
    };
    projected.set('issuance_user_terms', projected.get('issuance_user_terms')!.filter(isMadeAgain));
    const copy = await mkdtemp(join(tmpdir(), 'attestry-rebuilt-'));
    try {
      const dataDir = join(copy, 'data');
      await cp(platform.dataDir, dataDir, { recursive: true });
      for (const name of ['read-models.db', 'analytics.db'])
        for (const ending of ['', '-wal', '-shm']) await rm(join(dataDir, name + ending), { force: true });
      const rebuilt = await startPlatformProcess({
        dataDir,
        env: { ...ENVIRONMENT, PORT: String(platform.ready.port) },
        startTimeoutMs: 120_000,
      });
      try {
        const rows = () => readProjections(dataDir).get('analytics_operations')?.length;
        await waitUntil(() => rows() === projected.get('analytics_operations')!.length, {
          timeoutMs: 60_000,
          intervalMs: 200,
          what: 'the rows of all operations',
        });
        expect(await rebuilt.end()).toBe(0);
        const rebuiltRows = readProjections(dataDir);
        rebuiltRows.delete('operation_recorders');
        expect(rebuiltRows).toEqual(projected);
      } finally {
        await rebuilt.stop();
      }
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  }, 300_000);
});

describe('a data folder', () => {
  it('cannot be opened by a second process while the first runs', async () => {
    const first = await startPlatformProcess({ startTimeoutMs: 120_000 });
    try {
      await expect(startPlatformProcess({ dataDir: first.dataDir, startTimeoutMs: 120_000 })).rejects.toThrow(
        /ended with 1 before it was ready:\n.*data is in use by another process/s,
      );
      const management = await connectManagement(first);
      expectStatus(await management.tenants.list(), 200);
      await first.kill();
      await first.restart();
      expectStatus(await (await connectManagement(first)).tenants.list(), 200);
    } finally {
      await first.stop();
    }
  }, 180_000);
});
