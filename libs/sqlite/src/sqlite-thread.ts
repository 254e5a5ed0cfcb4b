import { Worker } from 'node:worker_threads';
import { namingFile } from './data-folder-lock.js';

/** Modules of jobs. */
export interface JobsSource {
  /** In the order in which they are loaded; see {@link moduleBeside}. */
  jobs: URL | readonly URL[];
  /** Argument of the `createJobs` of each. */
  options?: unknown;
}

export interface SqliteOptions extends JobsSource {
  /** Path of the database file. */
  file: string;
  /** Further modules with tables in the same file; no two have a job of one name. */
  further?: readonly JobsSource[];
  /** Further PRAGMA lines; `journal_mode = WAL` and `synchronous = FULL` are always set and asserted, NORMAL for `read-models.db` and `analytics.db`. */
  pragmas?: string[];
  /** Called when the thread dies; every later call fails. */
  onFailure?: (error: Error) => void;
}

/** An error thrown by a job, with the job's own `code` and `details`. */
export class SqliteError extends Error {
  constructor(
    override readonly name: string,
    message: string,
    readonly code?: string,
    readonly details?: unknown,
    /** Index of the call of {@link SqliteThread.ALL} that failed. */
    readonly at?: number,
  ) {
    super(message);
  }
}

/** A job with its argument. */
export type JobCall = readonly [job: string, args: unknown];

/** Address of a module beside the caller's, `.ts` while running from source and `.js` when built. */
export const moduleBeside = (importMetaUrl: string, name: string): URL =>
  new URL(`${name}${importMetaUrl.endsWith('.ts') ? '.ts' : '.js'}`, importMetaUrl);

/**
 * A SQLite file owned by one worker thread. Calls made while the thread is busy are sent together, and their writes
 * share one transaction and one fsync: group commit without timers.
 */
export class SqliteThread {
  /** The job that runs several writes, {@link JobCall}s, all or none, and returns their results. A failure has the index of its call. */
  static readonly ALL = '*';

  private readonly pending = new Map<number, PromiseWithResolvers<unknown>>();
  private queue: [number, string, unknown][] = [];
  private nextId = 1;
  private busy = false;
  private failure: Error | undefined;
  private closed: Promise<void> | undefined;
  private whenClosed: (() => void) | undefined;

  private constructor(
    private readonly worker: Worker,
    private readonly onFailure: ((error: Error) => void) | undefined,
  ) {}

  static async spawn(options: SqliteOptions): Promise<SqliteThread> {
    const worker = new Worker(moduleBeside(import.meta.url, './sqlite.worker'), {
      workerData: {
        file: options.file,
        modules: [options, ...(options.further ?? [])].flatMap(({ jobs, options }) =>
          [jobs].flat().map(({ href }: URL) => ({ jobs: href, options })),
        ),
        pragmas: options.pragmas ?? [],
      },
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 4 },
    });
    await new Promise<void>((resolve, reject) => {
      worker.once('message', () => resolve());
      worker.once('error', (error) => reject(namingFile(error as Error, options.file)));
      worker.once('exit', (code) => reject(new Error(`sqlite thread for ${options.file} ended with code ${code}`)));
    });
    // By name: removing all would remove the Worker's own listeners too, and with them the delivery of messages.
    for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event);
    const thread = new SqliteThread(worker, options.onFailure);
    worker.on('message', thread.receive);
    worker.on('error', (error) => thread.fail(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', () => thread.fail(new Error(`sqlite thread for ${options.file} is closed`)));
    return thread;
  }

  /** Runs one job. A write is durable when the promise resolves. @throws SqliteError what the job threw */
  call<T>(job: string, args?: unknown): Promise<T> {
    if (this.failure) return Promise.reject(this.failure);
    if (this.closed) return Promise.reject(new Error('the sqlite thread is closed'));
    const id = this.nextId++;
    const answer = Promise.withResolvers<T>();
    this.pending.set(id, answer as PromiseWithResolvers<unknown>);
    this.queue.push([id, job, args]);
    if (!this.busy) {
      this.busy = true;
      setImmediate(this.send);
    }
    return answer.promise;
  }

  /** Waits for the calls in progress, then closes the file. */
  close(): Promise<void> {
    this.closed ??= new Promise<void>((resolve) => {
      this.whenClosed = resolve;
      if (this.failure) resolve();
      else if (!this.busy) this.worker.postMessage('close');
    });
    return this.closed;
  }

  /** Runs after the events of a turn, so that calls of many requests are sent together: waking a thread costs more than a call. */
  private readonly send = (): void => {
    const calls = this.queue;
    this.queue = [];
    try {
      this.worker.postMessage(calls);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      this.sendCloneable(calls);
    }
  };

  /** One call's arguments cannot be copied to the thread: only its caller gets the error, the others continue. */
  private sendCloneable(calls: [number, string, unknown][]): void {
    this.worker.postMessage(
      calls.filter(([id, , args]) => {
        try {
          structuredClone(args);
          return true;
        } catch (error) {
          this.pending.get(id)!.reject(error as Error);
          this.pending.delete(id);
          return false;
        }
      }),
    );
  }

  private readonly receive = (answers: [number, 0 | 1, unknown][] | 'closed'): void => {
    if (answers === 'closed') return;
    this.busy = this.queue.length > 0;
    if (this.busy) setImmediate(this.send);
    else if (this.closed) this.worker.postMessage('close');
    for (const [id, failed, value] of answers) {
      const call = this.pending.get(id)!;
      this.pending.delete(id);
      if (failed) {
        const e = value as { name: string; message: string; code?: string; details?: unknown; at?: number };
        call.reject(new SqliteError(e.name, e.message, e.code, e.details, e.at));
      } else call.resolve(value);
    }
  };

  private fail(error: Error): void {
    if (this.failure) return;
    this.failure = error;
    for (const call of this.pending.values()) call.reject(error);
    this.pending.clear();
    if (this.whenClosed) this.whenClosed();
    else this.onFailure?.(error);
  }
}
