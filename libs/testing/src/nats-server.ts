import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUs, letLive } from './end-with-us.js';
import { freePort } from './free-port.js';
import { waitUntil } from './wait-until.js';

/** The folder in which Debian installs it may not be on the path. */
const PLACES = ['nats-server', '/usr/sbin/nats-server', '/usr/local/bin/nats-server'];

/** The program, or undefined where it is not installed. */
export const findNatsServer = (): string | undefined =>
  PLACES.find((place) => spawnSync(place, ['--version'], { stdio: 'ignore' }).status === 0);

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.setTimeout(500, () => socket.destroy());
  });

export interface NatsServerOptions {
  /** More lines of its configuration. */
  lines?: readonly string[];
  /** A folder with `nats.conf` and what that includes: run instead, with a free port and `/data` in its own folder. */
  config?: string;
  env?: Record<string, string>;
}

/** A real nats-server with JetStream, on a free port of 127.0.0.1 and with its own folder. */
export class NatsServer {
  private constructor(
    private readonly program: string,
    private readonly folder: string,
    readonly port: number,
    private readonly env: Record<string, string>,
    private readonly args: readonly string[],
    private child: ChildProcess,
    /** Port of its own state, with a configuration of another. */
    private readonly monitoringPort?: number,
  ) {}

  /** @param folder for its data; default a temporary one */
  static async start(
    program: string,
    folder = mkdtempSync(join(tmpdir(), 'attestry-nats-')),
    { lines = [], config, env = {} }: NatsServerOptions = {},
  ): Promise<NatsServer> {
    const port = await freePort();
    const own = join(folder, 'nats.conf');
    const args = ['-c', own];
    const monitoringPort = config === undefined ? undefined : await freePort();
    if (config === undefined)
      writeFileSync(
        own,
        [
          `listen: 127.0.0.1:${port}`,
          'max_payload: 8388608',
          `jetstream { store_dir: ${JSON.stringify(folder)}, max_memory_store: 64MB, max_file_store: 4GB }`,
          ...lines,
        ].join('\n'),
      );
    else {
      cpSync(config, folder, { recursive: true });
      writeFileSync(own, readFileSync(own, 'utf8').replace('/data', JSON.stringify(folder)));
      args.push('-a', '127.0.0.1', '-p', String(port), '-m', String(monitoringPort));
    }
    const child = NatsServer.spawn(program, args, env);
    const server = new NatsServer(program, folder, port, env, args, child, monitoringPort);
    await server.ready();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Takes over the users of another folder with `nats.conf`, as an operator does (docs/guides/nats.md). */
  async useUsersOf(config: string): Promise<void> {
    const loadedAt = async () => {
      const answer = await fetch(`http://127.0.0.1:${this.monitoringPort}/varz`);
      return ((await answer.json()) as { config_load_time: string }).config_load_time;
    };
    const before = await loadedAt();
    cpSync(join(config, 'users.conf'), join(this.folder, 'users.conf'));
    this.child.kill('SIGHUP');
    await waitUntil(async () => (await loadedAt()) !== before, { what: 'nats-server to load its users' });
  }

  /** Ends it at once and starts it again on what it had stored. */
  async restart(): Promise<void> {
    await this.kill();
    this.child = NatsServer.spawn(this.program, this.args, this.env);
    await this.ready();
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  /** Leaves it running, with its folder. */
  release(): void {
    letLive(this.child);
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private static spawn(program: string, args: readonly string[], env: Record<string, string>): ChildProcess {
    return endWithUs(spawn(program, args, { stdio: 'ignore', detached: true, env: { ...process.env, ...env } }));
  }

  private async ready(): Promise<void> {
    await waitUntil(() => answers(this.port), { what: 'nats-server to listen' });
  }
}
