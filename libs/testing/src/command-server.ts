import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { listeningProcess } from './listening-process.js';

/** Port of EventStoreDB. */
const DEFAULT_PORT = 2113;

/** How long its command may take to report that the server is ready, milliseconds. */
const START_MS = 120_000;

/**
 * A server that is started by a configured command, which prints the server's process id on a separate line, waits until
 * the server is ready, and ends.
 */
export class CommandServer {
  private constructor(
    private readonly command: string,
    private pid: number,
    /** It ran before, and is left running. */
    private readonly adopted: boolean,
  ) {}

  /**
   * @param url where the server is; when one runs there on this machine already, that is taken, and left running at the end
   * @throws Error when the command fails, names no process, or takes longer than two minutes
   */
  static async start(command: string, url?: string): Promise<CommandServer> {
    const { hostname, port } = url === undefined ? { hostname: '', port: '' } : new URL(url.split(',')[0]!);
    const here = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
    const running = here ? listeningProcess(Number(port || DEFAULT_PORT)) : undefined;
    return new CommandServer(command, running ?? (await run(command)), running !== undefined);
  }

  async kill(): Promise<void> {
    if (!isAlive(this.pid)) throw new Error(`process ${this.pid}, which ${this.command} named, does not run`);
    process.kill(this.pid, 'SIGKILL');
    while (isAlive(this.pid)) await pause(20);
  }

  /** After {@link kill}. */
  async restart(): Promise<void> {
    this.pid = await run(this.command);
  }

  async stop(): Promise<void> {
    if (this.adopted) {
      if (!isAlive(this.pid)) await this.restart();
    } else if (isAlive(this.pid)) await this.kill();
  }
}

const run = async (command: string): Promise<number> => {
  // Its exit is awaited, not the end of its streams, which the server may have inherited.
  const child = spawn(command, { shell: true, env: foreignEnvironment(), stdio: ['ignore', 'pipe', 'ignore'] });
  const output: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => output.push(line));
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  // Output printed before the end may arrive after it.
  for (let left = 50; left > 0 && !pidIn(output); left--) await pause(20);
  lines.close();
  child.stdout.destroy();
  const pid = pidIn(output);
  if (code !== 0) throw new Error(`${command} ended with ${code ?? 'a signal'}`);
  if (!pid) throw new Error(`${command} printed no process id`);
  return pid;
};

/** EventStoreDB reads every EVENTSTORE_ variable as one of its settings, and fails to start with an unknown one. */
const foreignEnvironment = (): NodeJS.ProcessEnv => {
  const { EVENTSTORE_URL: _url, EVENTSTORE_START: _start, ...others } = process.env;
  return others;
};

const pidIn = (lines: readonly string[]): number | undefined => {
  const line = lines.find((one) => /^\s*\d+\s*$/.test(one));
  return line === undefined ? undefined : Number(line);
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // Ended, and not yet seen to by the process that has inherited it.
  const stat = `/proc/${pid}/stat`;
  return !(existsSync(stat) && /\) Z /.test(readFileSync(stat, 'utf8')));
};
