import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { BbsProofTask } from './prove-bbs.worker.js';

/** For a proof, in the queue and in the thread, where it takes about 50 ms. */
const DEADLINE_MS = 5000;
/** Proofs that wait for the thread. */
const QUEUE = 32;
/** After this long without work the thread ends and frees its memory. */
const IDLE_MS = 10_000;
const MEMORY_MB = 64;

/** The proof was not made in time, or too many proofs are waited for. Temporary. */
export class BbsProofNotMade extends Error {
  override readonly name = 'BbsProofNotMade';
}

/** BBS proofs, made one after the other in a worker thread: the first ones take as long as the main thread may be held (ADR 0041). */
export class BbsProofs {
  private pool: Piscina<BbsProofTask, Uint8Array> | undefined;

  /**
   * @param task each member with memory of its own, because a thread receives all of the memory that an array is a view of. The secret key
   * is moved to the thread and overwritten
   * @throws BbsProofNotMade
   */
  async prove(task: BbsProofTask): Promise<Uint8Array> {
    const pool = (this.pool ??= this.newPool());
    const memory = task.secretKey.buffer as ArrayBuffer;
    try {
      // `maxQueue` of the pool does not count tasks with a signal.
      if (pool.queueSize >= QUEUE) throw new Error(`${QUEUE} proofs are waiting`);
      const signal = AbortSignal.timeout(DEADLINE_MS);
      // An array, although the types name the options of `postMessage`.
      return await pool.run(task, { signal, transferList: [memory] as object });
    } catch (cause) {
      throw new BbsProofNotMade('no BBS proof was made', { cause });
    } finally {
      if (!memory.detached) task.secretKey.fill(0);
    }
  }

  async close(): Promise<void> {
    await this.pool?.destroy();
  }

  private newPool(): Piscina<BbsProofTask, Uint8Array> {
    const { url } = import.meta;
    const pool = new Piscina<BbsProofTask, Uint8Array>({
      filename: fileURLToPath(new URL(`./prove-bbs.worker${url.endsWith('.ts') ? '.ts' : '.js'}`, url)),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      atomics: 'disabled',
      // The process's environment, which contains keys, is not passed to a thread.
      env: {},
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 16 },
    });
    // A thread that dies fails its job; an idle one that dies is replaced with the next job.
    pool.on('error', () => undefined);
    return pool;
  }
}
