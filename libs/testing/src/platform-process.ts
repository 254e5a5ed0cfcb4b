import { execFile, spawn, type ChildProcess, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endWithUs } from './end-with-us.js';
import { waitUntil } from './wait-until.js';

export const repository = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** A program of the platform as the image runs it, from its bundle (ADR 0126); a build that has none runs its compiled files. */
export const programOf = (name: string, build = repository): string => {
  const bundled = join(build, 'apps/platform/bundle', `${name}.js`);
  return existsSync(bundled) ? bundled : join(build, 'apps/platform/dist', `${name}.js`);
};

/** Line that the platform prints when it is ready. */
export interface ReadyLine {
  msg: 'ready';
  management: string;
  auth: string;
  port: number;
  /** With ADMIN_PORT: where health and metrics answer. */
  adminPort?: number;
  dataDir: string;
  managementClientFile?: string;
}

export interface PlatformProcessOptions {
  /** Added to a small environment of our own: nothing of the caller's settings reaches the platform. */
  env?: Record<string, string>;
  /** Default: a fresh temporary folder. */
  dataDir?: string;
  /** Let it continue to run when this process ends. */
  detached?: boolean;
  /** Milliseconds until the ready line; default 30,000. */
  startTimeoutMs?: number;
  /** A module that the process imports first; {@link PlatformProcess.query} sends it messages. */
  preload?: string;
}

export interface ManagementClientFile {
  client_id: string;
  client_secret: string;
}

/** Module that a platform preloads whose bound on the bytes of pages a test changes, by {@link PlatformProcess.query}. */
export const PAGE_SIZE_SWITCH = join(repository, 'libs/testing/dist/page-size-switch.js');

/** High enough never to be met by a suite that is not about them, however busy the machine. */
export const RAISED_LIMITS: Record<string, string> = {
  RATE_LIMIT_API: '1000000',
  RATE_LIMIT_CLIENT_TOKEN: '1000000',
  RATE_LIMIT_CLIENT_TOKEN_FAILURES: '1000000',
  RATE_LIMIT_CLIENT_TOKEN_FAILURES_48: '1000000',
  RATE_LIMIT_WALLET_TENANT: '1000000',
  RATE_LIMIT_WALLET_ADDRESS: '1000000',
  RATE_LIMIT_PUBLIC: '1000000',
  MAX_CONNECTIONS: '100000',
  MAX_CONNECTIONS_PER_PEER: '100000',
  MAX_REQUESTS_IN_FLIGHT: '100000',
  MAX_BODY_BYTES_IN_FLIGHT: '1073741824',
  MAX_CALLS_IN_FLIGHT: '100000',
  MAX_UNREAD_BYTES: '1073741824',
  MAX_UNREAD_BYTES_TOTAL: '1073741824',
  OWN_WRITE_WAIT_MS: '2000',
};

/** Variables that a platform needs of the environment it is started from; with what Node compiled before, it starts a sixth sooner. */
const KEPT_VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'NODE_COMPILE_CACHE'];
export const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(KEPT_VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));

/** A platform that runs, as one process or as many. */
export interface RunningPlatform {
  readonly ready: ReadyLine;
  readonly folder: string;
  readonly dataDir: string;
  /** Everything it wrote, over all its lives. */
  log(): string;
  /** Base address of a tenant with this subdomain. */
  tenantUrl(subdomain: string): string;
  managementClient(): ManagementClientFile;
  /** Makes a further one, as `npm run management-client` does. */
  makeManagementClient(name: string): Promise<ManagementClientFile>;
  restart(env?: Record<string, string>): Promise<void>;
  end(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** The built platform as a separate process, on a free port, with its log in a file. */
export class PlatformProcess implements RunningPlatform {
  ready!: ReadyLine;
  private child: ChildProcess | undefined;
  private exited: Promise<number | NodeJS.Signals> = Promise.resolve(0);

  private constructor(
    /** Holds the log and, unless one was given, the data folder. */
    readonly folder: string,
    readonly dataDir: string,
    private readonly options: PlatformProcessOptions,
  ) {}

  static async start(options: PlatformProcessOptions = {}): Promise<PlatformProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'attestry-'));
    const dataDir = options.dataDir ?? join(folder, 'data');
    // In production a folder that others can enter is refused (ADR 0054).
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const platform = new PlatformProcess(folder, dataDir, options);
    try {
      await platform.restart();
    } catch (error) {
      // While it starts, it need not end at SIGTERM.
      await platform.kill();
      await platform.stop();
      throw error;
    }
    return platform;
  }

  get pid(): number {
    return this.child!.pid!;
  }

  /** Everything the process wrote, over all its lives. */
  get logFile(): string {
    return join(this.folder, 'platform.log');
  }

  log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : '';
  }

  /** Base address of a tenant with this subdomain. */
  tenantUrl(subdomain: string): string {
    return this.ready.management.replace('//management.', `//${subdomain}.`);
  }

  managementClient(): ManagementClientFile {
    return JSON.parse(readFileSync(join(this.dataDir, 'management-client.json'), 'utf8')) as ManagementClientFile;
  }

  async makeManagementClient(name: string): Promise<ManagementClientFile> {
    return runManagementClient(name, { ...ownEnvironment(), DATA_DIR: this.dataDir, ...this.options.env });
  }

  /** Starts the process again on the same folder and port; it must have ended. */
  async restart(env: Record<string, string> = {}): Promise<void> {
    if (this.child) throw new Error('the platform is running');
    const before = this.log().length;
    const log = openSync(this.logFile, 'a');
    const { preload } = this.options;
    // The module replaces parts of the compiled files, of which a bundle has its own copy.
    const words =
      preload === undefined
        ? [programOf('main')]
        : ['--import', preload, join(repository, 'apps/platform/dist/main.js')];
    const child = spawn(process.execPath, ['--no-warnings', ...words], {
      cwd: repository,
      env: {
        ...ownEnvironment(),
        DATA_DIR: this.dataDir,
        ALLOW_PRIVATE_TARGETS: 'true',
        ...RAISED_LIMITS,
        ...this.options.env,
        ...env,
        // A tenant's host has the port in it: every life needs the first one's.
        PORT: String(this.ready?.port ?? this.options.env?.['PORT'] ?? 0),
      },
      // Files, not pipes: nothing is lost at a kill, and the process does not depend on this one reading.
      stdio: ['ignore', log, log, ...(preload === undefined ? [] : (['ipc'] as const))],
      detached: this.options.detached ?? false,
    });
    closeSync(log);
    this.child = child;
    if (!this.options.detached) endWithUs(child);
    let ended: number | NodeJS.Signals | undefined;
    this.exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        ended = code ?? signal!;
        resolve(ended);
      });
    });
    this.ready = await waitUntil(
      () => {
        const written = this.log().slice(before);
        if (ended !== undefined) return 'ended' as const;
        return readyLineIn(written);
      },
      { timeoutMs: this.options.startTimeoutMs ?? 30_000, intervalMs: 10, what: 'the ready line of the platform' },
    ).then((found) => {
      if (found === 'ended') {
        this.child = undefined;
        throw new Error(`the platform ended with ${ended} before it was ready:\n${this.log().slice(before)}`);
      }
      return found;
    });
    // The ready line comes by this channel as well: it is no answer to a message.
    if (preload !== undefined) await once(child, 'message');
  }

  /** Sends the preloaded module a message and returns its answer; one at a time. */
  query(message: Serializable): Promise<unknown> {
    const child = this.child!;
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error(`the platform ended before it answered:\n${this.log().slice(-2000)}`));
      child.once('exit', ended);
      child.once('message', (answer) => {
        child.off('exit', ended);
        resolve(answer);
      });
      child.send(message);
    });
  }

  /** SIGTERM; returns the exit code or signal. The folder is kept, for inspection or a restart. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> {
    const child = this.child;
    this.child = undefined;
    child?.kill(signal);
    return this.exited;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Ends the process and removes the temporary folder. */
  async stop(): Promise<void> {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Releases a detached process, which continues to run. */
  release(): void {
    this.child?.unref();
    this.child = undefined;
  }
}

/** The command, in the environment of a platform. */
export const runManagementClient = async (name: string, env: Record<string, string>): Promise<ManagementClientFile> => {
  const words = ['--no-warnings', programOf('management-client'), 'create', '--name', name];
  const { stdout } = await promisify(execFile)(process.execPath, words, { env, cwd: repository });
  return JSON.parse(stdout) as ManagementClientFile;
};

const readyLineIn = (text: string): ReadyLine | undefined => {
  for (const line of text.split('\n').slice(0, -1))
    if (line.includes('"msg":"ready"')) return JSON.parse(line) as ReadyLine;
  return undefined;
};

/** Starts the built platform; `npm test` and `npm run build` build it. */
export const startPlatformProcess = (options: PlatformProcessOptions = {}): Promise<PlatformProcess> =>
  PlatformProcess.start(options);
