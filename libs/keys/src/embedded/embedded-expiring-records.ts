import { hash } from 'node:crypto';
import { SqliteThread, moduleBeside } from '@attestry/sqlite';
import { ExpiringRecords, type Attempts, type ExpiringRecord, type PutRecord } from '../expiring-records.js';
import type { AttemptJob, FoundRecord, KeyJob, PutJob } from './expiring-records.jobs.js';

export interface EmbeddedExpiringRecordsOptions {
  /** Path of a database of its own. */
  file: string;
  onFailure?: (error: Error) => void;
  clock?: () => Date;
}

const digestOf = (scope: string, value: string): Uint8Array =>
  Uint8Array.from(hash('sha256', `${scope.length}:${scope}${value}`, 'buffer'));

/** ExpiringRecords on one SQLite file. */
export class EmbeddedExpiringRecords extends ExpiringRecords {
  private constructor(
    private readonly thread: SqliteThread,
    private readonly clock: () => Date,
  ) {
    super();
  }

  static async open(options: EmbeddedExpiringRecordsOptions): Promise<EmbeddedExpiringRecords> {
    const thread = await SqliteThread.open({
      file: options.file,
      jobs: moduleBeside(import.meta.url, './expiring-records.jobs'),
      pragmas: ['secure_delete = ON'],
      onFailure: options.onFailure,
    });
    return new EmbeddedExpiringRecords(thread, options.clock ?? (() => new Date()));
  }

  put({ kind, key, sealed, expiresAt, alias, group }: PutRecord): Promise<void> {
    const until = expiresAt.getTime();
    if (!Number.isFinite(until)) throw new RangeError('expiresAt is not a date');
    const args: PutJob = {
      ...this.key(`key ${kind}`, key),
      alias: alias === undefined ? null : digestOf(`alias ${kind}`, alias),
      groupDigest: group === undefined ? null : digestOf('group', group),
      sealed,
      expiresAt: until,
    };
    return this.thread.call('put', args);
  }

  async get(kind: string, key: string): Promise<ExpiringRecord | undefined> {
    return found(await this.thread.call('get', this.key(`key ${kind}`, key)));
  }

  async getByAlias(kind: string, alias: string): Promise<ExpiringRecord | undefined> {
    return found(await this.thread.call('getByAlias', this.key(`alias ${kind}`, alias)));
  }

  spend(kind: string, key: string): Promise<boolean> {
    return this.thread.call('spend', this.key(`key ${kind}`, key));
  }

  remove(kind: string, key: string): Promise<void> {
    return this.thread.call('remove', this.key(`key ${kind}`, key));
  }

  removeGroup(group: string): Promise<void> {
    return this.thread.call('removeGroup', this.key('group', group));
  }

  async attempt(kind: string, key: string, windowMs: number): Promise<Attempts> {
    const args: AttemptJob = { ...this.key(`attempt ${kind}`, key), windowMs };
    const { used, endsAt } = await this.thread.call<{ used: number; endsAt: number }>('attempt', args);
    return { used, endsAt: new Date(endsAt) };
  }

  takeBackAttempt(kind: string, key: string): Promise<void> {
    return this.thread.call('takeBackAttempt', this.key(`attempt ${kind}`, key));
  }

  /** Rows at present, ended ones that are not swept yet included. */
  size(): Promise<number> {
    return this.thread.call('count');
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  private key(scope: string, value: string): KeyJob {
    return { digest: digestOf(scope, value), now: this.clock().getTime() };
  }
}

const found = (row: FoundRecord | undefined): ExpiringRecord | undefined =>
  row && { sealed: row.sealed, ...(row.spentAt !== null && { spentAt: row.spentAt }) };
