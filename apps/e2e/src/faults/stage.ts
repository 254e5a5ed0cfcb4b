import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Cluster,
  CommandServer,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  SeededRandom,
  startClusterEngines,
  waitUntil,
  type ClusterOptions,
  type ServiceProcess,
} from '@attestry/testing';
import { ClusterTables, openClusterStores, type ClusterStores } from '@attestry/testing/services';
import { Ledger } from '../crash/ledger.js';
import { LoadClient, type Scene } from '../crash/load.js';
import { SignIn } from '../crash/sign-in.js';
import { Verification } from '../crash/verify-running.js';
import { WebhookSink } from '../crash/webhook-sink.js';
import { issue, makeIssuer } from '../journey.js';
import { TemporaryFolder } from './temporary-folder.js';

/** Deadline of every call, milliseconds. */
export const DEADLINE_MS = 5000;
/** Tolerance for responses after their deadline on a machine that starts eight processes at once. */
const SLACK_MS = 2500;
/** Between becoming unready and draining, milliseconds. */
export const SHUTDOWN_DELAY_MS = 1000;
/** The issue's own limits. */
export const RECOVERY_MS = 10_000;
export const TAKE_OVER_MS = 10_000;

export type EngineName = 'nats' | 'postgres' | 'redis' | 'eventstore';

/** Two of each service that uses leases, so that another one can take over. */
const REPLICAS = { webhooks: 2, analytics: 2 };

const ENVIRONMENT = {
  LOG_LEVEL: 'warn',
  OPERATION_TIMEOUT_MS: String(DEADLINE_MS),
  ACCESS_TOKEN_SECONDS: '3600',
  NONCE_SECONDS: '3600',
  WEBHOOK_RETRY_SECONDS: '0,1,1,1,1,1,1,1,1,1',
  WEBHOOK_TIMEOUT_MS: '2000',
  SHUTDOWN_DELAY: String(SHUTDOWN_DELAY_MS / 1000),
};

export interface StageOptions extends Pick<ClusterOptions, 'build' | 'envOf' | 'env'> {
  replicas?: Record<string, number>;
  /** Addresses of engines that the stage does not start. */
  engines?: Record<string, string>;
  /** People sign in, too. */
  signsIn?: boolean;
}

/** A cluster on its own engines, a tenant that issues, clients that load it, and the ledger of both. */
export class Stage {
  readonly ledger = new Ledger();
  readonly random: SeededRandom;
  readonly clients: LoadClient[];
  private lastUnready = '';

  private constructor(
    readonly seed: number,
    readonly cluster: Cluster,
    readonly sink: WebhookSink,
    readonly scene: Scene,
    readonly stores: ClusterStores,
    readonly tables: ClusterTables,
    readonly verification: (ledger: Ledger) => Verification,
    clients: number,
    private readonly folder: TemporaryFolder,
    private readonly eventStore: CommandServer | undefined,
  ) {
    this.random = new SeededRandom(seed);
    this.ledger.patienceMs = DEADLINE_MS + SLACK_MS;
    // The machine has the processes to carry beside the clients.
    const options = { goesOn: true, restMs: Number(process.env['FAULTS_REST_MS'] ?? 100) };
    this.clients = Array.from(
      { length: clients },
      (_, index) => new LoadClient(index, seed, scene, this.ledger, options),
    );
  }

  static async open(
    seed: number,
    clients: number,
    { replicas = REPLICAS, engines: given = {}, env, signsIn = false, ...options }: StageOptions = {},
  ): Promise<Stage> {
    const folder = await TemporaryFolder.make('attestry-faults-');
    const { EVENTSTORE_URL, EVENTSTORE_START } = process.env;
    const eventStore =
      EVENTSTORE_URL && EVENTSTORE_START ? await CommandServer.start(EVENTSTORE_START, EVENTSTORE_URL) : undefined;
    // Engines that may be killed, regardless of engines in the environment.
    const engines = await startClusterEngines(folder.path, { EVENTSTORE_URL, ...given });
    const cluster = await Cluster.start({
      folder: folder.path,
      engines,
      env: { ...ENVIRONMENT, ...env },
      replicas,
      ...options,
    });
    const sink = await WebhookSink.start();
    const management = await connectManagement(cluster);
    const tenant = await createTenantUnderTest(cluster, management, 'faults');
    const [environment] = expectStatus(await management.environments.list(), 200).data;
    const { jwtVc } = await makeIssuer(tenant);
    const events = ['OpenIdCredentialIssued', 'OpenIdCredentialIssuedSummary'] as const;
    const hook = expectStatus(await tenant.api.webhooks.create({ events: [...events], url: sink.url('/all') }), 201);
    const scene: Scene = {
      management,
      environmentId: environment!.id,
      tenant,
      configurationId: jwtVc,
      webhookId: hook.id,
      hookUrl: (path) => sink.url(path),
      ...(signsIn && { signIn: await SignIn.start(tenant, 'jwt_vc_json:Course') }),
    };
    return new Stage(
      seed,
      cluster,
      sink,
      scene,
      await openClusterStores({
        env: { ...cluster.env, ...(options.envOf && asService('management', options.envOf)) },
      }),
      new ClusterTables(cluster),
      (ledger) => new Verification(cluster, scene, ledger),
      clients,
      folder,
      eventStore,
    );
  }

  async close(): Promise<void> {
    this.stopLoad();
    await this.stores.close();
    await this.tables.close();
    await this.cluster.stop();
    const { FAULTS_LOGS } = process.env;
    if (FAULTS_LOGS)
      for (const { name, logFile } of this.cluster.processes) await cp(logFile, join(FAULTS_LOGS, `${name}.log`));
    await this.cluster.engines.stop();
    await this.eventStore?.stop();
    await this.sink.close();
    await this.scene.signIn?.stop();
    await this.folder.remove();
  }

  /** Engines of this cluster that may be killed, by name. */
  engine(name: EngineName): Pick<CommandServer, 'kill' | 'restart'> {
    const engine = name === 'eventstore' ? this.eventStore : this.cluster.engines[name];
    if (!engine) throw new Error(`${name} was not started here`);
    return engine;
  }

  /** The clients work while it lasts. Afterwards every response they got must be true. */
  async underLoad<T>(work: () => Promise<T>, clients = this.clients): Promise<T> {
    this.ledger.process += 1;
    const before = this.ledger.answered.length;
    const running = Promise.all(clients.map((client) => client.runLoad()));
    try {
      const result = await Promise.race([work(), running.then(() => Promise.reject(new Error('the load ended')))]);
      return result as T;
    } finally {
      this.stopLoad();
      await running;
      // Otherwise nothing was proved.
      if (this.ledger.answered.length - before < clients.length) this.ledger.fault('there was no load');
    }
  }

  private stopLoad(): void {
    for (const client of this.clients) client.stop();
  }

  /** Checks that all acknowledged data are present, and that every START has one outcome. */
  async check(): Promise<void> {
    await this.recovered(30_000);
    this.ledger.process += 1;
    const verification = this.verification(this.ledger);
    await verification.ofLastProcess(this.random);
    verification.compareTrail(await verification.trail());
    expect(this.ledger.faults).toEqual([]);
    expect(this.fatalLines()).toEqual([]);
  }

  /** Unforeseen failures: reactions and engines may fail and recover, a process may not. */
  private fatalLines(): string[] {
    return this.cluster
      .log()
      .split('\n')
      .filter((line) =>
        /"level":"fatal"|unhandled|Uncaught|UnhandledPromise|gateway failed|request failed/i.test(line),
      );
  }

  /** Waits at most this many milliseconds until all processes are ready and a credential is issued. @returns the milliseconds that it took */
  async recovered(withinMs = RECOVERY_MS): Promise<number> {
    const began = performance.now();
    this.lastUnready = '';
    await waitUntil(
      async () => {
        const unready = await this.unready();
        if (unready.length) this.lastUnready = `${Math.round(performance.now() - began)} ms: ${unready.join('; ')}`;
        if (unready.length) throw new Error(`not ready: ${unready.join('; ')}`);
        return true;
      },
      { timeoutMs: withinMs, intervalMs: 100, what: 'every process to be ready' },
    );
    const left = Math.max(1, withinMs - (performance.now() - began));
    await waitUntil(() => this.issueOne().then(() => true), { timeoutMs: left, what: 'a credential' });
    const took = Math.round(performance.now() - began);
    if (took > withinMs) throw new Error(`all was well after ${took} ms only; unready until ${this.lastUnready}`);
    return took;
  }

  /** Names of the processes that are not ready, with their reports. */
  async unready(): Promise<string[]> {
    const reasons = await Promise.all(
      this.cluster.processes.map(async (process) => {
        if (await process.isReady()) return undefined;
        return `${process.name} ${await readiness(process)}`;
      }),
    );
    return reasons.filter((one) => one !== undefined);
  }

  async issueOne(): Promise<string> {
    const { tenant, configurationId } = this.scene;
    const claims = { given_name: 'Ada' };
    const { credentials, issued } = await issue(tenant, { credentials: [configurationId], claims });
    if (credentials.length !== 1) throw new Error(`${credentials.length} credentials were issued`);
    return issued.userId;
  }

  rest(minMs: number, maxMs: number): Promise<void> {
    return pause(this.random.integer(minMs, maxMs));
  }
}

/** Settings of a participant of the bus. */
const asService = (service: string, envOf: (service: string) => Record<string, string>): Record<string, string> => ({
  SERVICE: service,
  ...envOf(service),
});

const readiness = async ({ port, isRunning }: ServiceProcess): Promise<string> => {
  if (!isRunning) return 'does not run';
  try {
    const answer = await hostFetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(1000) });
    const { checks } = (await answer.json()) as { checks: { healthy: boolean; starting?: boolean }[] };
    return JSON.stringify(checks.filter(({ healthy, starting }) => !healthy || starting));
  } catch (error) {
    return String(error);
  }
};
