import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUs, letLive } from './end-with-us.js';
import { freePort } from './free-port.js';
import { waitUntil } from './wait-until.js';

/** Either serves the same protocol. */
const PROGRAMS = ['redis-server', 'valkey-server'];

/** The program, or undefined where neither is installed. */
export const findRedisServer = (): string | undefined =>
  PROGRAMS.find((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0);

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (data) => resolve(data.toString().startsWith('+PONG')));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.setTimeout(500, () => socket.destroy());
  });

/** A real Redis or Valkey server that persists acknowledged writes, on a free port of 127.0.0.1 with its own folder. */
export class RedisServer {
  private constructor(
    private readonly program: string,
    private readonly folder: string,
    readonly port: number,
    private child: ChildProcess,
  ) {}

  /** @param folder for its data; default a temporary one */
  static async start(program: string, folder = mkdtempSync(join(tmpdir(), 'attestry-redis-'))): Promise<RedisServer> {
    const port = await freePort();
    const server = new RedisServer(program, folder, port, RedisServer.spawn(program, folder, port));
    await server.ready();
    return server;
  }

  get pid(): number {
    return this.child.pid!;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Ends it at once; what it acknowledged is on its disk. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  async restart(): Promise<void> {
    await this.kill();
    this.child = RedisServer.spawn(this.program, this.folder, this.port);
    await this.ready();
  }

  /** Pauses it, and its connections, until `resume`. */
  pause(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** Leaves it running, with its folder. */
  release(): void {
    letLive(this.child);
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private static spawn(program: string, folder: string, port: number): ChildProcess {
    const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'yes', appendfsync: 'always' };
    const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    return endWithUs(spawn(program, words, { stdio: 'ignore', detached: true }));
  }

  private async ready(): Promise<void> {
    await waitUntil(() => answers(this.port), { what: 'the Redis server to listen' });
  }
}
