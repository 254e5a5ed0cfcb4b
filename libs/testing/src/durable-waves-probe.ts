import { subscribe } from 'node:diagnostics_channel';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkerOptions } from 'node:worker_threads';

/**
 * Messages to a process that preloads this module: `begin` is answered once what earlier requests caused is stored, `waves` with a {@link Wave}
 * for each.
 */
export type WavesMessage = 'begin' | 'waves';

/** Writes that one transaction of a SQLite file stored: `<file>: <jobs>`. */
export type Wave = string;

/** A disk this slow lets no write that follows an answer be done before it. Milliseconds. */
const DISK_MS = 250;
/** Turns of the process without a write or a call under way, after which the next write is that of the next request. */
const QUIET_TURNS = 30;
const TURN_MS = 50;
/** Files that are synchronized at each commit are all but these (ADR 0069). */
const DERIVED = new Set(['read-models.db', 'analytics.db']);
/** No request waits for these jobs, which write, and the others do not write. */
const NOT_COUNTED = new Set([
  ...[
    'writeCheckpoint',
    'setCheckpoint',
    'checkpoint',
    'acquireLease',
    'renewLease',
    'releaseLease',
    'writeSnapshot',
    'open',
    'prune',
  ],
  ...['readStream', 'readAll', 'tenantStreams', 'head', 'isLeaseHeld', 'readCheckpoint', 'listCheckpoints'],
  ...['readSnapshot', 'read', 'get', 'getByAlias', 'count', 'tenantKey', 'wrappedKeys', 'signingKey', 'signingKeys'],
  ...['newestSigningKey', 'dataKey', 'pageOfKeys', 'findKeys', 'readExpiring'],
]);

type Call = [id: number, job: string, args: unknown];

let waves: Wave[] = [];
let isInRequest = false;
/** Each request has its own number: what an earlier one caused is not counted for the next. */
let request = 0;
/** Threads that have not answered. */
const busyThreads = new Set<object>();
let quietTurns = 0;

const writesOf = (calls: readonly Call[]): string[] =>
  calls.flatMap(([, job, args]) =>
    job === '*' ? (args as [string, unknown][]).map(([name]) => name) : NOT_COUNTED.has(job) ? [] : [job],
  );

const threads = createRequire(import.meta.url)('node:worker_threads') as {
  Worker: typeof import('node:worker_threads').Worker;
};

/** Delays the replies to writes, and notes those that arrive between a request and its response. */
class SlowDiskWorker extends threads.Worker {
  private readonly file: string;
  private posted: { writes: string[]; request: number } | undefined;

  constructor(url: string | URL, options: WorkerOptions) {
    super(url, options);
    const { file = '' } = (options.workerData ?? {}) as { file?: string };
    this.file = basename(file);
  }

  override postMessage(message: unknown): void {
    const writes = Array.isArray(message) && !DERIVED.has(this.file) ? writesOf(message as Call[]) : [];
    this.posted = writes.length ? { writes, request: isInRequest ? request : -1 } : undefined;
    if (writes.length) quietTurns = 0;
    if (Array.isArray(message)) busyThreads.add(this);
    super.postMessage(message);
  }

  override on(event: string, listener: (...args: unknown[]) => void): this {
    if (event !== 'message') return super.on(event, listener);
    return super.on(event, (answers: unknown) => {
      const { posted } = this;
      const reply = () => {
        busyThreads.delete(this);
        listener(answers);
      };
      if (!posted) return reply();
      setTimeout(() => {
        if (isInRequest && posted.request === request) waves.push(`${this.file}: ${posted.writes.join(', ')}`);
        reply();
      }, DISK_MS);
    });
  }
}
threads.Worker = SlowDiskWorker;
syncBuiltinESMExports();

subscribe('http.server.request.start', () => {
  isInRequest = true;
  request++;
});
subscribe('http.server.response.finish', () => (isInRequest = false));

const untilQuiet = async (): Promise<void> => {
  for (quietTurns = 0; quietTurns < QUIET_TURNS;) {
    await pause(TURN_MS);
    if (busyThreads.size === 0) quietTurns++;
  }
};

process.on('message', async (message: WavesMessage) => {
  if (message === 'begin') {
    await untilQuiet();
    waves = [];
  }
  process.send!(waves);
});
// The test ends the process by a signal: the channel does not keep it alive.
process.channel?.unref();
