import { SqliteThread, moduleBeside, type JobsSource } from '@attestry/sqlite';
import { ReplayGuard, type SingleUseValue, type Spending } from '../vault/key-vault.js';
import { spendsOf } from '../vault/single-use.js';
import type { SpendAll } from './replay.jobs.js';

export interface EmbeddedReplayGuardOptions {
  /** Path of the guard's own database. */
  file: string;
  onFailure?: (error: Error) => void;
  clock?: () => Date;
}

const SPENT = Promise.resolve(true);
const JOBS = moduleBeside(import.meta.url, './replay.jobs');

/** ReplayGuard on a SQLite file; concurrent spends share one fsync. */
export class EmbeddedReplayGuard extends ReplayGuard {
  private constructor(
    private readonly thread: SqliteThread,
    private readonly clock: () => Date,
    private readonly ownsThread: boolean,
  ) {
    super();
  }

  static async openFile({ file, onFailure, clock }: EmbeddedReplayGuardOptions): Promise<EmbeddedReplayGuard> {
    const thread = await SqliteThread.spawn({ file, jobs: JOBS, onFailure });
    return new EmbeddedReplayGuard(thread, clock ?? (() => new Date()), true);
  }

  /** The jobs of a thread for {@link onThread}. */
  static readonly jobs: JobsSource = { jobs: JOBS };

  /** On a thread that others use too, and that the caller closes afterwards. */
  static onThread(thread: SqliteThread, clock: () => Date): EmbeddedReplayGuard {
    return new EmbeddedReplayGuard(thread, clock, false);
  }

  async spendAll(tenantId: string, values: readonly SingleUseValue[]): Promise<boolean> {
    const now = this.clock().getTime();
    const spends = spendsOf(tenantId, values, now);
    return spends !== undefined && this.thread.call<boolean>('spendAll', { spends, now } satisfies SpendAll);
  }

  override spending(
    tenantId: string,
    values: readonly SingleUseValue[],
    refusal: () => Error,
    always?: SingleUseValue,
  ): Spending {
    const all = always ? [always, ...values] : values;
    let spent: Promise<boolean> | undefined;
    return {
      kind: 'single-use',
      store: async () => {
        if (!(await (spent ??= this.spendAll(tenantId, all)))) throw refusal();
      },
      partOf: async (engine) => {
        if (engine !== this.thread || spent) return undefined;
        const now = this.clock().getTime();
        const spends = spendsOf(tenantId, all, now);
        if (!spends) throw refusal();
        spent = SPENT;
        const refused = (error: Error & { code?: unknown }) => {
          spent = undefined;
          return error.code === 'AlreadySpent' ? refusal() : undefined;
        };
        return { job: 'requireSpend', args: { spends, now } satisfies SpendAll, refused };
      },
      spendAlways: async () => !always || (await spent) || this.spendAll(tenantId, [always]),
    };
  }

  /** Values stored at present, including expired ones that are not pruned yet. */
  size(): Promise<number> {
    return this.thread.call<number>('count');
  }

  async close(): Promise<void> {
    if (this.ownsThread) await this.thread.close();
  }
}
