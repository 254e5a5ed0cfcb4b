import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SERVICE_NAMES } from '@attestry/contracts';
import {
  ownEnvironment,
  programOf,
  RAISED_LIMITS,
  repository,
  runManagementClient,
  type ManagementClientFile,
  type ReadyLine,
  type RunningPlatform,
} from '../platform-process.js';
import { startClusterEngines, type ClusterEngines } from './cluster-engines.js';
import { ServiceProcess } from './service-process.js';
import { TcpBalancer } from './tcp-balancer.js';

/** How many processes of each service; the gateway first, so that the others come behind it in lists. */
const REPLICAS: Record<string, number> = {
  gateway: 2,
  ...Object.fromEntries(SERVICE_NAMES.map((service) => [service, service === 'issuance' ? 2 : 1])),
};

export interface ClusterOptions {
  env?: Record<string, string>;
  /** More settings of the processes of a service, or of `migrate`, such as its user in NATS. */
  envOf?: (service: string) => Record<string, string>;
  /** Folder of the build that they begin with. Default: this repository. */
  build?: string;
  /** Default: a fresh temporary folder, removed at the end. */
  folder?: string;
  /** Default: those the environment gives, the others started. */
  engines?: ClusterEngines;
  /** Processes continue to run when this one ends; see {@link Cluster.release}. */
  detached?: boolean;
  replicas?: Record<string, number>;
}

const run = promisify(execFile);
let serial = 0;

/** Every service in separate processes, on real engines, behind a load balancer. */
export class Cluster implements RunningPlatform {
  readonly processes: ServiceProcess[] = [];
  readonly ready: ReadyLine;

  private constructor(
    readonly folder: string,
    private readonly isOurs: boolean,
    readonly engines: ClusterEngines,
    readonly balancer: TcpBalancer,
    /** Settings of every process. */
    readonly env: Record<string, string>,
    private readonly options: ClusterOptions,
  ) {
    const { port } = balancer;
    this.ready = {
      msg: 'ready',
      management: `http://management.localhost:${port}`,
      auth: `http://auth.localhost:${port}`,
      port,
      dataDir: folder,
    };
  }

  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'attestry-cluster-')));
    await mkdir(folder, { recursive: true });
    const engines = options.engines ?? (await startClusterEngines(folder));
    const balancer = await TcpBalancer.start();
    // Several clusters may share engines: each has its own names.
    const name = `c${process.pid.toString(36)}${Date.now().toString(36)}${(++serial).toString(36)}`;
    const cluster = new Cluster(
      folder,
      options.folder === undefined,
      engines,
      balancer,
      {
        ...ownEnvironment(),
        ...engines.env,
        NATS_NAMESPACE: name,
        DATABASE_SCHEMA: name,
        EVENTSTORE_PREFIX: name,
        DATABASE_POOL: '4',
        BASE_DOMAIN: `localhost:${balancer.port}`,
        MASTER_KEY: randomBytes(32).toString('base64url'),
        MANAGEMENT_CLIENT_ID: randomBytes(16).toString('hex'),
        MANAGEMENT_CLIENT_SECRET: randomBytes(32).toString('hex'),
        ALLOW_PRIVATE_TARGETS: 'true',
        LOG_LEVEL: 'info',
        ...RAISED_LIMITS,
        ...options.env,
      },
      options,
    );
    try {
      await cluster.migrate(options.build);
      const starting = Object.entries({ ...REPLICAS, ...options.replicas }).flatMap(([service, count]) =>
        Array.from({ length: count }, (_, n) =>
          cluster.add(service, count > 1 ? `${service}-${n + 1}` : service, options.build),
        ),
      );
      // All of them have started or have ended before what is there can be stopped.
      for (const outcome of await Promise.allSettled(starting)) if (outcome.status === 'rejected') throw outcome.reason;
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async migrate(build = repository): Promise<void> {
    await this.command('migrate', [], build);
  }

  /** Runs one of the platform's commands with the cluster's settings. */
  async command(name: string, words: readonly string[] = [], build = repository): Promise<string> {
    const { stdout } = await run(process.execPath, ['--no-warnings', programOf(name, build), ...words], {
      env: { ...this.env, ...this.options.envOf?.(name) },
    });
    return stdout;
  }

  /** Starts one more process. */
  async add(service: string, name: string, build?: string): Promise<ServiceProcess> {
    const process = await ServiceProcess.start({
      name,
      service,
      folder: this.folder,
      env: { ...this.env, ...this.options.envOf?.(service) },
      ...(build !== undefined && { build }),
      detached: this.options.detached ?? false,
    });
    this.processes.push(process);
    this.processes.sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name));
    if (!this.polling) this.balance();
    return process;
  }

  processesOf(service: string): ServiceProcess[] {
    return this.processes.filter((process) => process.service === service);
  }

  get gateways(): ServiceProcess[] {
    return this.processesOf('gateway');
  }

  /** Ends a process for good. Resolves with its exit code or signal. */
  async retire(process: ServiceProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> {
    const code = await process.end(signal);
    this.processes.splice(this.processes.indexOf(process), 1);
    if (!this.polling) this.balance();
    return code;
  }

  /** Sends new connections only to ready gateways, polled ten times a second. Returns a function that stops it. */
  balanceByReadiness(): () => void {
    const poll = async () => {
      const states = await Promise.all(this.gateways.map(async (one) => ({ one, ready: await one.isReady() })));
      const ready = states.filter((state) => state.ready).map(({ one }) => one);
      if (ready.length && this.polling) this.balance(ready);
    };
    this.polling = setInterval(() => void poll(), 100);
    return () => {
      clearInterval(this.polling);
      this.polling = undefined;
      this.balance();
    };
  }

  private polling: NodeJS.Timeout | undefined;

  /** New connections go to these gateways; default all. */
  balance(gateways: readonly ServiceProcess[] = this.gateways): void {
    this.balancer.use(gateways.map(({ port }) => port));
  }

  get dataDir(): string {
    return this.folder;
  }

  log(): string {
    return this.processes.map((process) => process.log()).join('');
  }

  tenantUrl(subdomain: string): string {
    return `http://${subdomain}.localhost:${this.balancer.port}`;
  }

  managementClient(): ManagementClientFile {
    const { MANAGEMENT_CLIENT_ID, MANAGEMENT_CLIENT_SECRET } = this.env;
    return { client_id: MANAGEMENT_CLIENT_ID!, client_secret: MANAGEMENT_CLIENT_SECRET! };
  }

  makeManagementClient(name: string): Promise<ManagementClientFile> {
    return runManagementClient(name, { ...this.env, SERVICE: 'management' });
  }

  /** Starts every process again. */
  async restart(env: Record<string, string> = {}): Promise<void> {
    await Promise.all(this.processes.map((process) => process.restart(env)));
  }

  /** Ends every process; the exit code that is not 0, where there is one. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> {
    const codes = await Promise.all(this.processes.map((process) => process.end(signal)));
    return codes.find((code) => code !== 0) ?? 0;
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.end();
    await this.balancer.close();
    if (!this.options.engines) await this.engines.stop();
    if (this.isOurs) await rm(this.folder, { recursive: true, force: true });
  }

  /**
   * Lets everything run on without this
   * process. @returns ids of all remaining processes: `first` ends before `engines`; the load balancer moves to a separate process
   */
  async release(): Promise<{ first: number[]; engines: number[] }> {
    const { port } = this.balancer;
    await this.balancer.close();
    const program = fileURLToPath(import.meta.resolve('./balancer-main.js'));
    const words = [program, String(port), ...this.gateways.map((gateway) => String(gateway.port))];
    const child = spawn(process.execPath, words, { stdio: 'ignore', detached: true });
    child.unref();
    const first = [...this.processes.map(({ pid }) => pid), child.pid!];
    const { nats, postgres, redis } = this.engines;
    const engines = [nats, postgres, redis].flatMap((engine) => (engine ? [engine.pid] : []));
    for (const process of this.processes) process.release();
    this.engines.release();
    return { first, engines };
  }
}

const order = ({ service }: ServiceProcess): number => Object.keys(REPLICAS).indexOf(service);
