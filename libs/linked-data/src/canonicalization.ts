import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { AppError, jsonSize } from '@attestry/contracts';
import { Piscina } from 'piscina';
import {
  contextLoader,
  hashDocuments,
  type CanonicalizationResult,
  type CanonicalizationTask,
} from './canonicalize.worker.js';

/** Values, contexts included, up to which a call is canonicalized by the caller's thread: at worst some milliseconds. */
const SMALL = 256;
const DEADLINE_MS = 5000;
const QUEUE = 64;
const QUEUE_OF_TENANT = 32;
/** After so long without work a thread ends and gives its memory back. */
const IDLE_MS = 60_000;
const MEMORY_MB = 256;

/** The document is at fault: it cannot be read as linked data without loss. Permanent. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Canonicalization took longer than 5 s of a thread of its own. The same document would take as long again. */
export class CanonicalizationTooLong extends Error {
  override readonly name = 'CanonicalizationTooLong';
}

const busy = (message: string) =>
  new AppError('unavailable', message, { headers: { 'retry-after': String(DEADLINE_MS / 1000) } });

interface Job extends CanonicalizationTask {
  tenantId: string;
  resolve(result: CanonicalizationResult): void;
  reject(error: unknown): void;
}

export interface CanonicalizationOptions {
  /** Contexts that are the same for every tenant, by address. */
  shared: ReadonlyMap<string, object>;
  /** Default: processors minus one, at least 1. */
  threads?: number;
  deadlineMs?: number;
}

const EMPTY: ReadonlyMap<string, object> = new Map();

/**
 * JSON-LD canonicalization in a bounded pool of worker threads, one for each process (ADR 0042). Threads start with the first
 * large document. Tenants take turns, and each holds at most half of the threads.
 */
export class Canonicalization {
  private readonly threads: number;
  private readonly threadsOfTenant: number;
  private readonly deadlineMs: number;
  private readonly shared: ReadonlyMap<string, object>;
  private pool: Piscina<CanonicalizationTask, CanonicalizationResult> | undefined;
  private closed = false;
  /** By tenant; the order of the tenants is the order of their turns. */
  private readonly waiting = new Map<string, Job[]>();
  private readonly running = new Map<string, number>();
  /** Jobs that wait for a thread. */
  waitingJobs = 0;
  /** Jobs that have a thread. */
  runningJobs = 0;
  /** Called when a job passes the deadline and its thread is terminated. */
  onTerminated: () => void = () => undefined;

  constructor({ shared, threads, deadlineMs = DEADLINE_MS }: CanonicalizationOptions) {
    this.shared = shared;
    this.threads = threads ?? Math.max(1, availableParallelism() - 1);
    this.threadsOfTenant = Math.max(1, Math.floor(this.threads / 2));
    this.deadlineMs = deadlineMs;
  }

  /**
   * SHA-256 of the RDFC-1.0 form of each document. Contexts that documents name must be shared or given here.
   * @throws DocumentFault, CanonicalizationTooLong, AppError 503 with `Retry-After`
   */
  async hashes(
    tenantId: string,
    documents: readonly object[],
    contexts: ReadonlyMap<string, object> = EMPTY,
  ): Promise<Buffer[]> {
    const { exceeds } = jsonSize([documents, [...contexts.values()]], { values: SMALL, depth: SMALL });
    const result = exceeds
      ? await this.inThread(tenantId, documents, contexts)
      : await hashDocuments(documents, contextLoader(this.shared, contexts));
    if ('fault' in result) throw new DocumentFault(result.fault.code, result.fault.message);
    // As plain octets they come from another thread.
    return result.hashes.map((octets) => Buffer.from(octets));
  }

  private inThread(
    tenantId: string,
    documents: readonly object[],
    contexts: ReadonlyMap<string, object>,
  ): Promise<CanonicalizationResult> {
    const queue = this.waiting.get(tenantId) ?? [];
    if (this.closed) throw busy('The service is shutting down');
    if (this.runningJobs >= this.threads || !this.mayRun(tenantId)) {
      if (queue.length >= QUEUE_OF_TENANT) throw busy('Too many credentials of this tenant are waiting to be signed');
      if (this.waitingJobs >= QUEUE) throw busy('Too many credentials are waiting to be signed');
    }
    return new Promise((resolve, reject) => {
      queue.push({ tenantId, documents, contexts: [...contexts], resolve, reject });
      this.waiting.set(tenantId, queue);
      this.waitingJobs++;
      this.dispatch();
    });
  }

  private mayRun(tenantId: string): boolean {
    return (this.running.get(tenantId) ?? 0) < this.threadsOfTenant;
  }

  private dispatch(): void {
    while (this.runningJobs < this.threads) {
      const next = [...this.waiting].find(([tenantId]) => this.mayRun(tenantId));
      if (!next) return;
      const [tenantId, queue] = next;
      const job = queue.shift()!;
      this.waitingJobs--;
      this.waiting.delete(tenantId);
      if (queue.length) this.waiting.set(tenantId, queue);
      this.start(job);
    }
  }

  private start(job: Job): void {
    const { tenantId, documents, contexts } = job;
    this.runningJobs++;
    this.running.set(tenantId, (this.running.get(tenantId) ?? 0) + 1);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.deadlineMs);
    this.threadPool()
      .run({ documents, contexts }, { signal: deadline.signal })
      .then(job.resolve, (error: unknown) => {
        if (deadline.signal.aborted) {
          this.onTerminated();
          job.reject(new CanonicalizationTooLong(`canonicalization took longer than ${this.deadlineMs} ms`));
        } else job.reject(new AppError('unavailable', 'Service temporarily unavailable', { cause: error }));
      })
      .finally(() => {
        clearTimeout(timer);
        this.runningJobs--;
        const left = this.running.get(tenantId)! - 1;
        if (left) this.running.set(tenantId, left);
        else this.running.delete(tenantId);
        this.dispatch();
      });
  }

  private threadPool(): Piscina<CanonicalizationTask, CanonicalizationResult> {
    if (this.pool) return this.pool;
    const { url } = import.meta;
    this.pool = new Piscina<CanonicalizationTask, CanonicalizationResult>({
      filename: fileURLToPath(new URL(`./canonicalize.worker${url.endsWith('.ts') ? '.ts' : '.js'}`, url)),
      minThreads: 0,
      maxThreads: this.threads,
      idleTimeout: IDLE_MS,
      // A thread that waits for work must not spin or block: the deadline ends it from outside.
      atomics: 'disabled',
      workerData: [...this.shared],
      // Nothing of the process's environment, which holds keys, goes to a thread.
      env: {},
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 16 },
    });
    // A thread that dies fails its job; an idle one that dies is replaced with the next job.
    this.pool.on('error', () => undefined);
    return this.pool;
  }

  /** Jobs that have not ended fail with 503. */
  async close(): Promise<void> {
    this.closed = true;
    const left = [...this.waiting.values()].flat();
    this.waiting.clear();
    this.waitingJobs = 0;
    for (const job of left) job.reject(busy('The service is shutting down'));
    await this.pool?.destroy();
  }

  /** Called by Nest for every provider, values included. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}
