import { hash } from 'node:crypto';
import { SqliteThread, moduleBeside } from '@attestry/sqlite';
import {
  SignInAttempts,
  SignInRecords,
  SignInStore,
  type CountedAttempts,
  type PutRecord,
  type SignInRecord,
} from '../sign-in/sign-in-store.js';
import type { AttemptJob, FoundRecord, KeyJob, PutJob } from './sign-in-store.jobs.js';

export interface EmbeddedSignInStoreOptions {
  /** Path of a separate database. */
  file: string;
  onFailure?: (error: Error) => void;
  clock?: () => Date;
}

const digestOf = (scope: string, value: string): Uint8Array =>
  Uint8Array.from(hash('sha256', `${scope.length}:${scope}${value}`, 'buffer'));
const keyJob = (now: Date, scope: string, value: string): KeyJob => ({
  digest: digestOf(scope, value),
  now: now.getTime(),
});

/** SignInStore on one SQLite file. */
export class EmbeddedSignInStore extends SignInStore {
  readonly records: SignInRecords;
  readonly attempts: SignInAttempts;

  private constructor(
    private readonly thread: SqliteThread,
    clock: () => Date,
  ) {
    super();
    this.records = new EmbeddedSignInRecords(thread, clock);
    this.attempts = new EmbeddedSignInAttempts(thread, clock);
  }

  static async openFile({ file, onFailure, clock }: EmbeddedSignInStoreOptions): Promise<EmbeddedSignInStore> {
    const jobs = moduleBeside(import.meta.url, './sign-in-store.jobs');
    const thread = await SqliteThread.spawn({ file, jobs, pragmas: ['secure_delete = ON'], onFailure });
    return new EmbeddedSignInStore(thread, clock ?? (() => new Date()));
  }

  /** Rows of both, expired ones that are not deleted yet included. */
  size(): Promise<number> {
    return this.thread.call('count');
  }

  close(): Promise<void> {
    return this.thread.close();
  }
}

class EmbeddedSignInRecords extends SignInRecords {
  constructor(
    private readonly thread: SqliteThread,
    private readonly clock: () => Date,
  ) {
    super();
  }

  put({ kind, key, sealed, expiresAt, alias, group }: PutRecord): Promise<void> {
    const until = expiresAt.getTime();
    if (!Number.isFinite(until)) throw new RangeError('expiresAt is not a date');
    const args: PutJob = {
      ...keyJob(this.clock(), `key ${kind}`, key),
      alias: alias === undefined ? null : digestOf(`alias ${kind}`, alias),
      groupDigest: group === undefined ? null : digestOf('group', group),
      sealed,
      expiresAt: until,
    };
    return this.thread.call('put', args);
  }

  async get(kind: string, key: string): Promise<SignInRecord | undefined> {
    return found(await this.thread.call('get', keyJob(this.clock(), `key ${kind}`, key)));
  }

  async getByAlias(kind: string, alias: string): Promise<SignInRecord | undefined> {
    return found(await this.thread.call('getByAlias', keyJob(this.clock(), `alias ${kind}`, alias)));
  }

  spend(kind: string, key: string): Promise<boolean> {
    return this.thread.call('spend', keyJob(this.clock(), `key ${kind}`, key));
  }

  remove(kind: string, key: string): Promise<void> {
    return this.thread.call('remove', keyJob(this.clock(), `key ${kind}`, key));
  }

  removeGroup(group: string): Promise<void> {
    return this.thread.call('removeGroup', keyJob(this.clock(), 'group', group));
  }
}

class EmbeddedSignInAttempts extends SignInAttempts {
  constructor(
    private readonly thread: SqliteThread,
    private readonly clock: () => Date,
  ) {
    super();
  }

  async count(kind: string, key: string, windowMs: number): Promise<CountedAttempts> {
    const args: AttemptJob = { ...keyJob(this.clock(), `attempt ${kind}`, key), windowMs };
    const { used, endsAt } = await this.thread.call<{ used: number; endsAt: number }>('attempt', args);
    return { used, endsAt: new Date(endsAt) };
  }

  takeBack(kind: string, key: string): Promise<void> {
    return this.thread.call('takeBackAttempt', keyJob(this.clock(), `attempt ${kind}`, key));
  }
}

const found = (row: FoundRecord | undefined): SignInRecord | undefined =>
  row && { sealed: row.sealed, ...(row.spentAt !== null && { spentAt: row.spentAt }) };
