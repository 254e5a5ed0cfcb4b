import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUs, letLive } from './end-with-us.js';
import { freePort } from './free-port.js';
import { waitUntil } from './wait-until.js';

/** Debian keeps the programs of each version in a folder of its own. */
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

/** PostgreSQL does not run as root: there it is given the user that its package made, or nobody. */
const unprivileged = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const id = (what: string) => Number(spawnSync('id', [what, name], { encoding: 'utf8' }).stdout);
    if (id('-u')) return { uid: id('-u'), gid: id('-g') };
  }
  throw new Error('there is no user to run PostgreSQL as');
};

/** A real PostgreSQL server, on a free port of 127.0.0.1 with a folder of its own. */
export class PostgresServer {
  private readonly user = unprivileged();

  private constructor(
    private readonly programs: string,
    private readonly folder: string,
    readonly port: number,
  ) {}

  private child: ChildProcess | undefined;

  /** @param folder of its own; default a temporary one */
  static async start(
    programs: string,
    folder = mkdtempSync(join(tmpdir(), 'attestry-postgres-')),
  ): Promise<PostgresServer> {
    const server = new PostgresServer(programs, folder, await freePort());
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
    await server.run();
    return server;
  }

  /** As its superuser, or as the role given. */
  url(role = 'postgres'): string {
    return `postgres://${role}@127.0.0.1:${this.port}/postgres`;
  }

  /** Ends it at once; what it acknowledged is on its disk. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.run();
  }

  /** It lives on, with its folder. */
  release(): void {
    if (this.child) letLive(this.child);
  }

  get pid(): number {
    return this.child!.pid!;
  }

  async stop(): Promise<void> {
    // "Immediate": its processes all end, also those that a killed one would leave behind for a moment.
    await this.end('SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  private async run(): Promise<void> {
    const settings = { port: this.port, listen_addresses: '127.0.0.1', unix_socket_directories: this.folder };
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const start = () =>
      endWithUs(
        spawn(join(this.programs, 'postgres'), ['-D', join(this.folder, 'data'), ...words], {
          ...this.user,
          cwd: this.folder,
          stdio: 'ignore',
          detached: true,
        }),
      );
    this.child = start();
    const ready = () => {
      // After a kill its orphans hold the shared memory for a moment, and a start is refused.
      if (this.child!.exitCode !== null) this.child = start();
      const words = ['-h', '127.0.0.1', '-p', String(this.port), '-q'];
      return spawnSync(join(this.programs, 'pg_isready'), words).status === 0;
    };
    await waitUntil(ready, { timeoutMs: 30_000, intervalMs: 50, what: 'PostgreSQL to accept connections' });
  }
}
