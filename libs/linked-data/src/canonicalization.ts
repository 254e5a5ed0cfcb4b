import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { AppError, jsonSize } from '@attestry/contracts';
import { Piscina } from 'piscina';
import {
  canonicalFormOf,
  findClaimFault,
  hasNestedArray,
  hashDocuments,
  type ClaimsResult,
  type ClaimsToCheck,
  type ContextLimits,
  type ContextResult,
  type HashesResult,
  type ThreadResult,
  type ThreadTask,
} from './canonicalize.worker.js';

/** Values up to which documents with shared contexts only are canonicalized on the caller's thread: at worst some milliseconds. */
const SMALL = 256;
const DEADLINE_MS = 5000;
const QUEUE = 64;
const QUEUE_OF_TENANT = 32;
/** Longest wait of a caller: a job that has waited this long is dropped. */
const WAIT_MS = 10_000;
/** A longer job counts against its tenant, whose slow jobs may use this much thread time in each minute. */
const SLOW_MS = 1000;
const SLOW_MS_PER_MINUTE = 15_000;
const MINUTE_MS = 60_000;
/** After this long without work a thread ends and frees its memory. */
const IDLE_MS = 60_000;
const MEMORY_MB = 256;

/** The document is invalid: it cannot be read as linked data without loss. Permanent. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Canonicalization used a thread for longer than 5 s, or all of its memory. A retry with the same document would take as much.
 */
export class CanonicalizationTooLong extends Error {
  override readonly name = 'CanonicalizationTooLong';
}

const busy = (message: string, afterMs = DEADLINE_MS) =>
  new AppError('unavailable', message, { headers: { 'retry-after': String(Math.ceil(afterMs / 1000)) } });

interface Job {
  task: ThreadTask;
  tenantId: string;
  /** Milliseconds, of `performance.now()`. */
  since: number;
  resolve(result: ThreadResult): void;
  reject(error: unknown): void;
}

export interface CanonicalizationOptions {
  /** Contexts that are the same for every tenant, by address. */
  shared: ReadonlyMap<string, object>;
  /** Default: processors minus one, at least 1. */
  threads?: number;
  deadlineMs?: number;
  waitMs?: number;
}

const EMPTY: ReadonlyMap<string, string> = new Map();

const isSmall = (value: unknown): boolean => !jsonSize(value, { values: SMALL, depth: SMALL }).exceeds;

/**
 * JSON-LD canonicalization in a bounded pool of worker threads, one for each process (ADR 0042). Threads start with the first
 * large document. Tenants take turns, and each holds at most half of the threads.
 */
export class Canonicalization {
  private readonly threads: number;
  private readonly threadsOfTenant: number;
  private readonly deadlineMs: number;
  private readonly waitMs: number;
  private readonly shared: ReadonlyMap<string, object>;
  private pool: Piscina<ThreadTask, ThreadResult> | undefined;
  private closed = false;
  /** By tenant; the order of the tenants is the order of their turns. */
  private readonly waiting = new Map<string, Job[]>();
  private readonly running = new Map<string, number>();
  /** Milliseconds that slow jobs of a tenant took in the current minute. */
  private readonly slow = new Map<string, number>();
  private minuteBegan = 0;
  /** Jobs that wait for a thread. */
  waitingJobs = 0;
  /** Jobs that have a thread. */
  runningJobs = 0;
  /** Called when a job passes the deadline or the memory of its thread, which is terminated. */
  onTerminated: () => void = () => undefined;

  constructor({ shared, threads, deadlineMs = DEADLINE_MS, waitMs = WAIT_MS }: CanonicalizationOptions) {
    this.shared = shared;
    this.threads = threads ?? Math.max(1, availableParallelism() - 1);
    this.threadsOfTenant = Math.max(1, Math.floor(this.threads / 2));
    this.deadlineMs = deadlineMs;
    this.waitMs = waitMs;
  }

  /**
   * SHA-256 of the RDFC-1.0 form of each document. Contexts that documents name must be shared or given here, as text. Given contexts are
   * parsed and processed in a thread, however small: a few lines that refer to themselves can take any time and memory.
   */
  async hashes(
    tenantId: string,
    documents: readonly object[],
    contexts: ReadonlyMap<string, string> = EMPTY,
  ): Promise<Buffer[]> {
    const result = (
      contexts.size === 0 && isSmall(documents)
        ? await hashDocuments(documents, this.shared, contexts)
        : await this.inThread(tenantId, { kind: 'hashes', documents, contexts: [...contexts] })
    ) as HashesResult;
    if ('fault' in result) throw new DocumentFault(result.fault.code, result.fault.message);
    // Bytes from another thread lose their Buffer class.
    return result.hashes.map((octets) => Buffer.from(octets));
  }

  /**
   * The first claim that a credential cannot express, which is a document without claims. Arrays in arrays are tried one by one, so in a
   * thread. The claims nest at most as deep as linked data may.
   * @throws CanonicalizationTooLong, AppError 503
   */
  async findClaimFault(
    tenantId: string,
    { document, claims }: ClaimsToCheck,
    contexts: ReadonlyMap<string, string> = EMPTY,
  ): Promise<ClaimsResult> {
    const isOwnThread = contexts.size === 0 && isSmall(claims) && !hasNestedArray(claims);
    if (isOwnThread) return findClaimFault({ document, claims }, this.shared, contexts);
    return (await this.inThread(tenantId, {
      kind: 'claims',
      ...{ document, claims, contexts: [...contexts] },
    })) as ClaimsResult;
  }

  /**
   * Properties of a tenant's context documents before they are processed: their size and the contexts that they refer to, or why they are
   * none. One job of a thread reads them all, because parsing them alone takes tens of milliseconds.
   * @throws CanonicalizationTooLong, AppError 503
   */
  async inspectContexts(tenantId: string, texts: readonly string[], limits: ContextLimits): Promise<ContextResult[]> {
    if (texts.length === 0) return [];
    return (await this.inThread(tenantId, { kind: 'contexts', texts, limits })) as ContextResult[];
  }

  /** The RDFC-1.0 form itself of a document that the platform composed: small, with shared contexts only. On the caller's thread. */
  canonicalForm(document: object): Promise<string> {
    return canonicalFormOf(document, this.shared);
  }

  private inThread(tenantId: string, task: ThreadTask): Promise<ThreadResult> {
    if (this.closed) throw busy('The service is shutting down');
    this.checkSlow(tenantId);
    if (this.runningJobs >= this.threads || !this.mayRun(tenantId)) this.checkPlaces(tenantId);
    return new Promise((resolve, reject) => {
      const queue = this.waiting.get(tenantId) ?? [];
      queue.push({ tenantId, task, since: performance.now(), resolve, reject });
      this.waiting.set(tenantId, queue);
      this.waitingJobs++;
      this.dispatch();
    });
  }

  /** @throws AppError 503 while slow jobs of the tenant have used up their time */
  private checkSlow(tenantId: string): void {
    const now = performance.now();
    if (now - this.minuteBegan >= MINUTE_MS) {
      this.minuteBegan = now;
      this.slow.clear();
    }
    if ((this.slow.get(tenantId) ?? 0) >= SLOW_MS_PER_MINUTE)
      throw busy('Credentials of this tenant take too long to sign', this.minuteBegan + MINUTE_MS - now);
  }

  /** A tenant without a waiting job always gets a slot: that of the last job of the tenant with the most. @throws AppError 503 */
  private checkPlaces(tenantId: string): void {
    this.dropOverdue();
    const own = this.waiting.get(tenantId)?.length ?? 0;
    if (own >= QUEUE_OF_TENANT) throw busy('Too many credentials of this tenant are waiting to be signed');
    if (this.waitingJobs < QUEUE) return;
    const full = 'Too many credentials are waiting to be signed';
    const [longest] = [...this.waiting.values()].sort((a, b) => b.length - a.length);
    if (own > 0 || !longest || longest.length < 2) throw busy(full);
    longest.pop()!.reject(busy(full));
    this.waitingJobs--;
  }

  /** Drops jobs whose callers have stopped waiting. */
  private dropOverdue(): void {
    const oldest = performance.now() - this.waitMs;
    for (const [tenantId, queue] of this.waiting) {
      while (queue[0] && queue[0].since < oldest) {
        queue.shift()!.reject(busy('The credentials waited too long to be signed'));
        this.waitingJobs--;
      }
      if (queue.length === 0) this.waiting.delete(tenantId);
    }
  }

  private mayRun(tenantId: string): boolean {
    return (this.running.get(tenantId) ?? 0) < this.threadsOfTenant;
  }

  private dispatch(): void {
    this.dropOverdue();
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
    const { tenantId, task } = job;
    this.runningJobs++;
    this.running.set(tenantId, (this.running.get(tenantId) ?? 0) + 1);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.deadlineMs);
    const began = performance.now();
    this.threadPool()
      .run(task, { signal: deadline.signal })
      .then(job.resolve, (error: unknown) => {
        // A thread that ran out of memory would do so again with the same document.
        if (deadline.signal.aborted || (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY') {
          this.onTerminated();
          job.reject(
            new CanonicalizationTooLong('canonicalization took more time or memory than is allowed for a document'),
          );
        } else job.reject(new AppError('unavailable', 'Service temporarily unavailable', { cause: error }));
      })
      .finally(() => {
        clearTimeout(timer);
        const took = performance.now() - began;
        if (took >= SLOW_MS) this.slow.set(tenantId, (this.slow.get(tenantId) ?? 0) + took);
        this.runningJobs--;
        const left = this.running.get(tenantId)! - 1;
        if (left) this.running.set(tenantId, left);
        else this.running.delete(tenantId);
        this.dispatch();
      });
  }

  private threadPool(): Piscina<ThreadTask, ThreadResult> {
    if (this.pool) return this.pool;
    const { url } = import.meta;
    this.pool = new Piscina<ThreadTask, ThreadResult>({
      filename: fileURLToPath(new URL(`./canonicalize.worker${url.endsWith('.ts') ? '.ts' : '.js'}`, url)),
      minThreads: 0,
      maxThreads: this.threads,
      idleTimeout: IDLE_MS,
      // A waiting thread must not spin or block: the deadline terminates it from outside.
      atomics: 'disabled',
      workerData: [...this.shared],
      // The process's environment, which contains keys, is not passed to a thread.
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
