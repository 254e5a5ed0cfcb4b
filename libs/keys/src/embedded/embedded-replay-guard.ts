import { hash } from 'node:crypto';
import { SqliteThread, moduleBeside } from '@attestry/sqlite';
import { ReplayGuard } from '../key-vault.js';
import type { Spend } from './replay.jobs.js';

export interface EmbeddedReplayGuardOptions {
  /** Path of the guard's own database: a spend must not wait behind the key file's scrubbing. */
  file: string;
  onFailure?: (error: Error) => void;
  clock?: () => Date;
}

/** ReplayGuard on one SQLite file; concurrent spends share one fsync. */
export class EmbeddedReplayGuard extends ReplayGuard {
  private constructor(
    private readonly thread: SqliteThread,
    private readonly clock: () => Date,
  ) {
    super();
  }

  static async openFile(options: EmbeddedReplayGuardOptions): Promise<EmbeddedReplayGuard> {
    const thread = await SqliteThread.spawn({
      file: options.file,
      jobs: moduleBeside(import.meta.url, './replay.jobs'),
      onFailure: options.onFailure,
    });
    return new EmbeddedReplayGuard(thread, options.clock ?? (() => new Date()));
  }

  async spend(scope: string, value: string, expiresAt: Date): Promise<boolean> {
    const until = expiresAt.getTime();
    if (!Number.isFinite(until)) throw new RangeError('expiresAt is not a date');
    const digest = Uint8Array.from(hash('sha256', `${scope.length}:${scope}${value}`, 'buffer').subarray(0, 16));
    const args: Spend = { digest, expiresAt: until, now: this.clock().getTime() };
    return this.thread.call<boolean>('spend', args);
  }

  /** Values stored at present, including expired ones that are not pruned yet. */
  size(): Promise<number> {
    return this.thread.call<number>('count');
  }

  close(): Promise<void> {
    return this.thread.close();
  }
}
