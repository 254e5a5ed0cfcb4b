import { backOffMs, type BackOff } from '@attestry/event-store';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../process/logger.js';

export interface FailingRowsOptions {
  logger: Logger;
  /** Log message when a row begins to fail, or fails for another reason. */
  failure: string;
  /** Log message of its first success after that. */
  recovery: string;
  /** Between two attempts at one row. */
  backOff: BackOff;
}

/** In each process; rows beyond it begin with the shortest pause again. */
const MOST = 10_000;
/** The failure of an engine, or of the lease: no fault of a row, so the run fails, and may succeed in another process. */
const OUTAGES: ReadonlySet<string> = new Set([
  'EventStoreUnavailable',
  'KeyVaultUnavailable',
  'ReadModelUnavailable',
  'SqliteError',
  'StaleEpoch',
]);

/**
 * Rows of a job that failed, each with a back-off of its own, so that one holds up no other. The caller stores the time of the next attempt;
 * the number of failures is in memory, so that another process begins with the shortest pause.
 */
export class FailingRows {
  private readonly rows: LRUCache<string, { failures: number; message: string }>;

  constructor(private readonly options: FailingRowsOptions) {
    // One that is not tried again, as it was deleted or another process has the lease, is forgotten.
    this.rows = new LRUCache({ max: MOST, ttl: 2 * options.backOff.maxMs });
  }

  /** @returns milliseconds until the next attempt; undefined after an outage, for which the row is not to blame */
  add(row: string, error: unknown, fields: Record<string, unknown>): number | undefined {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    if (OUTAGES.has(name)) return undefined;
    const { logger, failure, backOff } = this.options;
    const known = this.rows.get(row);
    if (known?.message !== message) logger.error({ ...fields, error: message }, failure);
    const failures = (known?.failures ?? 0) + 1;
    this.rows.set(row, { failures, message });
    return backOffMs(failures, backOff);
  }

  remove(row: string, fields: Record<string, unknown>): void {
    if (this.rows.delete(row)) this.options.logger.info(fields, this.options.recovery);
  }

  /** For readiness: of a process that is ready, as other rows are processed. */
  get error(): string | undefined {
    this.rows.purgeStale();
    const [last] = this.rows.values();
    return last && `${this.options.failure} (${this.rows.size}), the last one: ${last.message}`;
  }
}
