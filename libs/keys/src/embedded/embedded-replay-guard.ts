import { SqliteThread, moduleBeside } from '@attestry/sqlite';
import { ReplayGuard, type SingleUseValue } from '../key-vault.js';
import { areUsable, spendOf } from '../single-use.js';
import type { SpendAll } from './replay.jobs.js';

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

  async spendAll(tenantId: string, values: readonly SingleUseValue[]): Promise<boolean> {
    const spends = values.map((value) => spendOf(tenantId, value));
    const now = this.clock().getTime();
    if (!areUsable(spends, now)) return false;
    const args: SpendAll = { spends, now };
    return this.thread.call<boolean>('spendAll', args);
  }

  /** Values stored at present, including expired ones that are not pruned yet. */
  size(): Promise<number> {
    return this.thread.call<number>('count');
  }

  close(): Promise<void> {
    return this.thread.close();
  }
}
