import { join } from 'node:path';
import type { ProbeMessage } from './main-thread-probe.js';
import { repository, type PlatformProcess } from './platform-process.js';

/** Module that a platform preloads whose main thread is measured; see {@link MainThread}. */
export const MAIN_THREAD_PROBE = join(repository, 'libs/testing/dist/main-thread-probe.js');

/** Longest time for which one request may hold the thread, on the reference machine. */
export const MAIN_THREAD_LIMIT_MS = 100;
/** CPU milliseconds of 1,000 ES256 verifications on the reference machine. */
const REFERENCE_MS = 140;
const RUNS = 3;
/** Requests measured at a time. */
const TOGETHER = 32;

/** The main thread of a platform that preloads {@link MAIN_THREAD_PROBE} and has nothing else to do. */
export class MainThread {
  private constructor(
    private readonly platform: PlatformProcess,
    /** CPU milliseconds of the verifications in this process. */
    private pace: number,
  ) {}

  static async of(platform: PlatformProcess): Promise<MainThread> {
    const time = () => platform.query('verifications' satisfies ProbeMessage) as Promise<number>;
    return new MainThread(platform, Math.min(await time(), await time(), await time()));
  }

  /**
   * CPU milliseconds for which a request holds the thread, as on the reference machine: the smallest of three runs, for
   * garbage that others left is collected in some of them. One run within {@link MAIN_THREAD_LIMIT_MS} is enough.
   */
  async heldBy(request: () => Promise<unknown>): Promise<number> {
    let smallest = Infinity;
    for (let run = 0; run < RUNS && smallest > MAIN_THREAD_LIMIT_MS; run++)
      smallest = Math.min(smallest, await this.heldOnce(request));
    return Math.round(smallest);
  }

  /** {@link heldBy} of each request that exceeds the limit: only where the longest of several does are they measured one by one. */
  async heldByEach<Request>(
    requests: readonly Request[],
    send: (request: Request) => Promise<unknown>,
  ): Promise<{ request: Request; ms: number }[]> {
    const held: { request: Request; ms: number }[] = [];
    for (let from = 0; from < requests.length; from += TOGETHER) {
      const some = requests.slice(from, from + TOGETHER);
      const longest = await this.heldOnce(async () => {
        for (const request of some) await send(request);
      });
      if (longest <= MAIN_THREAD_LIMIT_MS) continue;
      for (const request of some) {
        const ms = await this.heldBy(() => send(request));
        if (ms > MAIN_THREAD_LIMIT_MS) held.push({ request, ms });
      }
    }
    return held;
  }

  private async heldOnce(request: () => Promise<unknown>): Promise<number> {
    await this.query('begin');
    await request();
    const held = (await this.query('end')) as number;
    // A processor that others use too is slower than it was at the start.
    if (this.scaled(held) > MAIN_THREAD_LIMIT_MS)
      this.pace = Math.max(this.pace, (await this.query('verifications')) as number);
    return this.scaled(held);
  }

  private scaled(ms: number): number {
    return (ms * REFERENCE_MS) / this.pace;
  }

  /** From now on blocks are counted, which makes everything slower. */
  async countBlocks(): Promise<void> {
    await this.query('count-blocks');
    await this.query('blocks');
  }

  /** Blocks that a request executes, and what ran since the last one. Native code has none. */
  async blocksOf(request: () => Promise<unknown>): Promise<number> {
    await request();
    return (await this.query('blocks')) as number;
  }

  private query(message: ProbeMessage): Promise<unknown> {
    return this.platform.query(message);
  }
}
