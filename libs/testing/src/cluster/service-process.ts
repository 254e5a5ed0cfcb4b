import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { endWithUs, letLive } from '../end-with-us.js';
import { freePort } from '../free-port.js';
import { programOf, repository } from '../platform-process.js';
import { waitUntil } from '../wait-until.js';

export interface ServiceProcessOptions {
  /** Value of {@link ServiceProcess.name}, and name of its log file. */
  name: string;
  service: string;
  folder: string;
  env: Record<string, string>;
  /** Folder of the build it runs. Default: this repository. */
  build?: string;
  detached?: boolean;
  startTimeoutMs?: number;
}

/** The response of `/health/ready`; 0 without one. */
const readiness = (port: number): Promise<number> =>
  new Promise((resolve) => {
    const probe = request({ host: '127.0.0.1', port, path: '/health/ready', timeout: 2000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    probe.once('timeout', () => probe.destroy());
    probe.once('error', () => resolve(0));
    probe.end();
  });

/** One service in a separate process. */
export class ServiceProcess {
  private child: ChildProcess | undefined;
  private exited: Promise<number | NodeJS.Signals> = Promise.resolve(0);

  private constructor(
    private readonly options: ServiceProcessOptions,
    /** Port of its HTTP server: the API at a gateway, health and metrics at the others. */
    readonly port: number,
    /** Port of health and metrics: at a gateway another one. */
    readonly adminPort: number,
  ) {}

  /** Ready when it resolves; not there when it rejects. */
  static async start(options: ServiceProcessOptions): Promise<ServiceProcess> {
    const port = await freePort();
    const process = new ServiceProcess(options, port, options.service === 'gateway' ? await freePort() : port);
    try {
      await process.restart();
      return process;
    } catch (error) {
      // No other code has a reference to it.
      await process.end('SIGKILL');
      throw error;
    }
  }

  get name(): string {
    return this.options.name;
  }

  get service(): string {
    return this.options.service;
  }

  get pid(): number {
    return this.child!.pid!;
  }

  get logFile(): string {
    return join(this.options.folder, `${this.name}.log`);
  }

  log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : '';
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  async isReady(): Promise<boolean> {
    return this.child !== undefined && (await this.readiness()) === 200;
  }

  /** Status of `/health/ready`; 0 without a response. */
  readiness(): Promise<number> {
    return readiness(this.port);
  }

  /** Starts it again on the same port, and waits until it is ready. */
  async restart(env: Record<string, string> = {}, build = this.options.build ?? repository): Promise<void> {
    this.launch(env, build);
    await this.untilReady();
  }

  /** Starts it without waiting. */
  launch(env: Record<string, string> = {}, build = this.options.build ?? repository): void {
    if (this.child) throw new Error(`${this.name} is running`);
    const log = openSync(this.logFile, 'a');
    const child = spawn(process.execPath, ['--no-warnings', programOf('main', build)], {
      cwd: build,
      env: {
        ...this.options.env,
        ...env,
        SERVICE: this.service,
        PORT: String(this.port),
        ADMIN_PORT: String(this.adminPort),
      },
      stdio: ['ignore', log, log],
      detached: this.options.detached ?? false,
    });
    closeSync(log);
    this.child = child;
    endWithUs(child);
    this.exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (this.child === child) this.child = undefined;
        resolve(code ?? signal!);
      });
    });
  }

  async untilReady(): Promise<void> {
    const timeoutMs = this.options.startTimeoutMs ?? 60_000;
    await waitUntil(
      async () => {
        if (!this.child) return 'ended' as const;
        return (await this.isReady()) && ('ready' as const);
      },
      { timeoutMs, intervalMs: 50, what: `${this.name} to be ready` },
    ).then((state) => {
      if (state === 'ended') throw new Error(`${this.name} ended before it was ready:\n${this.log().slice(-4000)}`);
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Resolves with its exit code or signal. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> {
    this.child?.kill(signal);
    return this.exited;
  }

  release(): void {
    if (this.child) letLive(this.child);
    this.child = undefined;
  }
}
