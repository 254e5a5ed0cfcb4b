import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUs, letLive } from './end-with-us.js';
import { freePort } from './free-port.js';
import { waitUntil } from './wait-until.js';

/** Debian installs the programs of each version in a separate folder. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder with `initdb`, `postgres` and `pg_isready`, or undefined where they are not installed. */
export const findPostgres = (): string | undefined => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(':'),
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
  ];
  const all = (folder: string) => ['initdb', 'postgres', 'pg_isready'].every((name) => existsSync(join(folder, name)));
  return folders.find(all);
};

/** PostgreSQL does not run as root: then it uses the user that its package created, or `nobody`. */
const unprivileged = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const id = (what: string) => Number(spawnSync('id', [what, name], { encoding: 'utf8' }).stdout);
    if (id('-u')) return { uid: id('-u'), gid: id('-g') };
  }
  throw new Error('there is no user to run PostgreSQL as');
};

/** A real PostgreSQL server, on a free port of 127.0.0.1 with its own folder. */
export class PostgresServer {
  private readonly user = unprivileged();

  private constructor(
    private readonly programs: string,
    private readonly folder: string,
    readonly port: number,
    private readonly settings: Record<string, string>,
  ) {}

  private child: ChildProcess | undefined;

  /**
   * @param folder for its data; default a temporary one
   * @param settings of the server, beside ours
   */
  static async start(
    programs: string,
    folder = mkdtempSync(join(tmpdir(), 'attestry-postgres-')),
    settings: Record<string, string> = {},
  ): Promise<PostgresServer> {
    const server = new PostgresServer(programs, folder, await freePort(), settings);
    const { uid, gid } = server.user;
    if (uid !== undefined) chownSync(folder, uid, gid!);
    const words = [
      '-D',
      join(folder, 'data'),
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ];
    execFileSync(join(programs, 'initdb'), words, { ...server.user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    await server.startServer();
    return server;
  }

  /** URL for its superuser, or for the given role. */
  url(role = 'postgres'): string {
    return `postgres://${role}@127.0.0.1:${this.port}/postgres`;
  }

  /** Ends all its processes at once, as a machine that stops would; what it acknowledged is on its disk. */
  async kill(): Promise<void> {
    const pid = this.running();
    if (pid === undefined) return;
    // Held, it starts no further process while its present ones are listed.
    process.kill(pid, 'SIGSTOP');
    const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
    const all = stdout.split('\n').map((line) => line.trim().split(/ +/).map(Number));
    const children = all.filter(([, parent]) => parent === pid).map(([child]) => child!);
    await this.end('SIGKILL');
    for (const child of children) signalled(child, 'SIGKILL');
    await waitUntil(() => !children.some((child) => signalled(child, 0)), {
      what: 'the processes of PostgreSQL to end',
    });
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.startServer();
  }

  /** Leaves it running, with its folder. */
  release(): void {
    if (this.child) letLive(this.child);
  }

  get pid(): number {
    return this.child!.pid!;
  }

  async stop(): Promise<void> {
    // "Immediate": it ends its processes, and then itself.
    await this.end('SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private running(): number | undefined {
    const { child } = this;
    return child && child.exitCode === null && child.signalCode === null ? child.pid : undefined;
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    if (this.running() === undefined) return;
    const ended = once(this.child!, 'exit');
    this.child!.kill(signal);
    await ended;
  }

  private async startServer(): Promise<void> {
    const settings = {
      port: this.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: this.folder,
      // Two platforms of seven processes at once, with a pool each for log, read models and keys.
      max_connections: 300,
      ...this.settings,
    };
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const log = join(this.folder, 'log');
    const file = openSync(log, 'a');
    this.child = endWithUs(
      spawn(join(this.programs, 'postgres'), ['-D', join(this.folder, 'data'), ...words], {
        ...this.user,
        cwd: this.folder,
        stdio: ['ignore', file, file],
        detached: true,
      }),
    );
    closeSync(file);
    const ready = () => {
      if (this.running() === undefined) return 'ended';
      const words = ['-h', '127.0.0.1', '-p', String(this.port), '-q'];
      return spawnSync(join(this.programs, 'pg_isready'), words).status === 0 && 'ready';
    };
    const options = { timeoutMs: 30_000, intervalMs: 50, what: 'PostgreSQL to accept connections' };
    if ((await waitUntil(ready, options)) === 'ended')
      throw new Error(`PostgreSQL ended: ${readFileSync(log, 'utf8').slice(-1000)}`);
  }
}

/** False when there is no such process any more. */
const signalled = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};
