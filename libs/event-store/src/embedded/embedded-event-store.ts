import { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { SqliteThread, type JobCall, type JobsSource, type SqliteError } from '@attestry/sqlite';
import type {
  AllPage,
  AppendResult,
  NewEvent,
  Position,
  ReadAllOptions,
  ReadStreamOptions,
  RecordedEvent,
  Revision,
  StreamAppend,
  StreamName,
  SubscribeOptions,
  Subscription,
  SubscriptionHandler,
  UnitOfWork,
  UnitPart,
  UnitWrite,
} from '../event-store.js';
import {
  AppendTooLarge,
  EventStore,
  EventStoreUnavailable,
  MAX_APPEND_BYTES,
  NO_STREAM,
  storeInOrder,
  WrongExpectedRevision,
} from '../event-store.js';
import { readText } from '../chain.js';
import { EmbeddedCheckpoints } from './embedded-checkpoints.js';
import { COLUMNS } from './columns.js';
import { Tail } from '../tail.js';
import { eventFileJobs } from './event-file.js';
import type { AppendAnswer, AppendArgs, PageAnswer, ReadStreamArgs, Rows } from './event.jobs.js';
import { EmbeddedLeases } from './embedded-leases.js';
import { EmbeddedSnapshots } from './embedded-snapshots.js';
import { PagedSubscription } from '../paged-subscription.js';

export interface EmbeddedEventStoreOptions {
  /** Path of the database file; created when absent. */
  file: string;
  /** Events older than this are discarded at the start and every hour. Default: kept forever. */
  retentionDays?: number;
  /**
   * The caller holds the data folder's lock and opens this file once: leases granted to an earlier process are void,
   * so that a restart after a crash does not wait for them to run out. Default false.
   */
  exclusive?: boolean;
  /** The file's thread died or the retention failed. */
  onFailure?: (error: Error) => void;
}

const HOUR = 3_600_000;
/** Another thread of this process may append to the same file; longest delay until its events are found. */
const POLL_MS = 500;
const DISCARD_PORTION = 500;
const KNOWN_REVISIONS = 20_000;
/** Events of a stream that are read in the caller's thread. */
const SHORT_READ = 32;

/** For a thread with the jobs of {@link EmbeddedEventStore}. */
export const EVENT_PRAGMAS = ['cache_size = -8000'];

/** The event store in one SQLite file, owned by a worker thread (ADR 0001). Positions are decimal. */
export class EmbeddedEventStore extends EventStore {
  /** Other data in the same file. */
  readonly leases: EmbeddedLeases;
  readonly checkpoints: EmbeddedCheckpoints;
  readonly snapshots: EmbeddedSnapshots;
  private readonly subscriptions = new Set<PagedSubscription>();
  private readonly onFailure: ((error: Error) => void) | undefined;
  private readonly reader: Reader;
  private readonly tail = new Tail();
  /** Only for the sole owner of the folder: no other process can append. */
  private readonly revisions: LRUCache<StreamName, Revision> | undefined;
  private newest = 0;
  private pollTimer: NodeJS.Timeout | undefined;
  private retention: NodeJS.Timeout | undefined;
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly thread: SqliteThread,
    options: EmbeddedEventStoreOptions,
    private readonly ownsThread: boolean,
  ) {
    super();
    this.onFailure = options.onFailure;
    if (options.exclusive) this.revisions = new LRUCache({ max: KNOWN_REVISIONS });
    this.reader = openReader(options.file);
    this.leases = new EmbeddedLeases(thread);
    this.checkpoints = new EmbeddedCheckpoints(thread);
    this.snapshots = new EmbeddedSnapshots(thread);
  }

  /** @throws Error when the file cannot be opened or was written by a newer release */
  static async openFile(options: EmbeddedEventStoreOptions): Promise<EmbeddedEventStore> {
    const thread = await SqliteThread.spawn({
      file: options.file,
      ...EmbeddedEventStore.jobs(options.exclusive),
      pragmas: EVENT_PRAGMAS,
      onFailure: options.onFailure,
    });
    const store = new EmbeddedEventStore(thread, options, true);
    if (options.retentionDays !== undefined) await store.keepOnly(options.retentionDays);
    return store;
  }

  /** The jobs of a thread for {@link onThread}. */
  static jobs(exclusive = false): JobsSource {
    return eventFileJobs({ exclusive });
  }

  /** On a thread that others use too, and that the caller closes afterwards. */
  static onThread(thread: SqliteThread, options: Omit<EmbeddedEventStoreOptions, 'retentionDays'>): EmbeddedEventStore {
    return new EmbeddedEventStore(thread, options, false);
  }

  append(stream: StreamName, events: readonly NewEvent[], expected: Revision): Promise<AppendResult> {
    return this.commit({ writes: [], appends: [{ stream, events, expected }] });
  }

  override async commit({ writes, appends }: UnitOfWork): Promise<AppendResult> {
    // Sizes are checked before anything is stored.
    const own: JobCall[] = [];
    for (const append of appends) own.push(['append', argumentsOf(append)]);
    const elsewhere: UnitWrite[] = [];
    const parts: UnitPart[] = [];
    const calls: JobCall[] = [];
    try {
      for (const write of writes) {
        const part = await write.partOf(this.thread);
        if (part) {
          parts.push(part);
          calls.push([part.job, part.args]);
        } else elsewhere.push(write);
      }
      if (elsewhere.length) await storeInOrder(elsewhere);
    } catch (error) {
      for (const part of parts) part.refused(error as Error);
      throw error;
    }
    let answers: unknown[];
    try {
      answers = await this.thread.call(SqliteThread.ALL, [...calls, ...own]);
    } catch (error) {
      throw refusalOf(error as SqliteError, parts, appends);
    }
    for (const part of parts) part.stored?.();
    let result: AppendResult | undefined;
    for (const [index, { stream, events, expected }] of appends.entries()) {
      const [revision, last, first] = answers[parts.length + index] as AppendAnswer;
      result = { revision, position: String(last) };
      if (first === 0) continue;
      const category = stream.slice(0, stream.indexOf('-'));
      this.revisions?.set(stream, revision);
      this.tail.add(stream, category, first, expected + 1, events);
      if (last > this.newest) this.newest = last;
      for (const subscription of this.subscriptions) subscription.appended([category], first - 1, last);
    }
    return result!;
  }

  override knownRevision(stream: StreamName): Revision | undefined {
    return this.revisions?.get(stream);
  }

  override noteUnused(stream: StreamName): void {
    this.revisions?.set(stream, NO_STREAM);
  }

  async readStream(stream: StreamName, options: ReadStreamOptions = {}): Promise<RecordedEvent[]> {
    const descending = options.direction === 'backwards';
    const from = options.from ?? (descending ? Number.MAX_SAFE_INTEGER : 0);
    const limit = options.limit ?? -1;
    if (this.closing) throw new EventStoreUnavailable('the event store is closed');
    // Short reads run in the caller's thread: a few microseconds, where waking the file's thread costs ten times that.
    const statement = descending ? this.reader.backwards : this.reader.forwards;
    let rows: Rows;
    try {
      rows = statement.all(stream, from, SHORT_READ).flat();
    } catch (error) {
      throw unavailable(error);
    }
    if (rows.length < 8 * SHORT_READ) return fromRows(limit < 0 ? rows : rows.slice(0, 8 * limit));
    const args: ReadStreamArgs = [stream, from, limit, descending, options.mostCharacters ?? Infinity];
    return fromRows(await this.callJob<Rows>('readStream', args));
  }

  async readAll(options: ReadAllOptions): Promise<AllPage> {
    if (!(options.limit >= 1)) throw new RangeError(`limit is ${options.limit}, expected 1 or more`);
    const after = options.after === undefined ? 0 : toNumber(options.after);
    const categories = options.categories && [...new Set(options.categories)];
    const cached = this.revisions && !this.closing && this.tail.read(after, options.limit, categories);
    if (cached) return cached;
    return this.readPage([after, options.limit, categories]);
  }

  async readTenant(tenantId: string, after: Position | undefined, limit: number): Promise<AllPage> {
    if (!(limit >= 1)) throw new RangeError(`limit is ${limit}, expected 1 or more`);
    return this.readPage([after === undefined ? 0 : toNumber(after), limit, undefined, tenantId]);
  }

  tenantStreams(tenantId: string, afterName: StreamName | undefined, limit: number): Promise<StreamName[]> {
    return this.callJob('tenantStreams', [tenantId, afterName ?? '', limit]);
  }

  private async readPage(args: unknown[]): Promise<AllPage> {
    const [rows, next, atEnd] = await this.callJob<PageAnswer>('readAll', args);
    return { events: fromRows(rows), next: next > 0 ? String(next) : undefined, atEnd };
  }

  subscribe(options: SubscribeOptions, handler: SubscriptionHandler): Subscription {
    if (this.closing) throw new EventStoreUnavailable('the event store is closed');
    const after = options.after === undefined ? 0 : toNumber(options.after);
    const source = {
      readAll: async (page: ReadAllOptions) =>
        this.tail.read(page.after === undefined ? 0 : toNumber(page.after), page.limit, page.categories) ??
        this.readAll(page),
    };
    const subscription = new PagedSubscription(source, { ...options, after }, handler, () =>
      this.subscriptions.delete(subscription),
    );
    this.subscriptions.add(subscription);
    this.pollTimer ??= setInterval(() => void this.poll(), POLL_MS).unref();
    return subscription;
  }

  async head(): Promise<Position | undefined> {
    const position = await this.callJob<number>('head');
    return position > 0 ? String(position) : undefined;
  }

  comparePositions(a: Position, b: Position): number {
    return toNumber(a) - toNumber(b);
  }

  /**
   * Discards events that occurred before a time, oldest first, up to the first younger one. Revisions and positions continue unchanged.
   * Returns the number of discarded events.
   *
   * @param time RFC 3339, UTC, milliseconds
   */
  async discardBefore(time: string): Promise<number> {
    let total = 0;
    for (;;) {
      const [gone, more] = await this.callJob<[number, boolean]>('discardBefore', [time, DISCARD_PORTION]);
      total += gone;
      if (gone) {
        this.tail.clear();
        this.revisions?.clear();
      }
      if (!more) return total;
    }
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      clearInterval(this.pollTimer);
      clearInterval(this.retention);
      await Promise.all([...this.subscriptions].map((subscription) => subscription.close()));
      if (this.ownsThread) await this.thread.close();
      this.reader.close();
    })();
    return this.closing;
  }

  private async keepOnly(days: number): Promise<void> {
    const discard = () => this.discardBefore(new Date(Date.now() - days * 24 * HOUR).toISOString());
    await discard();
    this.retention = setInterval(() => {
      discard().catch((error: unknown) => {
        if (!this.closing) this.onFailure?.(error as Error);
      });
    }, HOUR).unref();
  }

  private async poll(): Promise<void> {
    if (this.subscriptions.size === 0) return;
    try {
      const position = await this.callJob<number>('head');
      if (position <= this.newest) return;
      this.newest = position;
      for (const subscription of this.subscriptions) subscription.wake();
    } catch (error) {
      for (const subscription of [...this.subscriptions]) subscription.endWithError(error as Error);
    }
  }

  private async callJob<T>(job: string, args?: unknown): Promise<T> {
    try {
      return await this.thread.call<T>(job, args);
    } catch (error) {
      throw unavailable(error);
    }
  }
}

type Rowwise = { all(...args: (string | number)[]): (string | number)[][] };
interface Reader {
  forwards: Rowwise;
  backwards: Rowwise;
  close(): void;
}

/** A connection that only reads; WAL lets it read while the file's thread writes. */
const openReader = (file: string): Reader => {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  const prepare = (sql: string): Rowwise => {
    const statement = db.prepare(sql);
    statement.setReturnArrays(true);
    return statement as unknown as Rowwise;
  };
  return {
    forwards: prepare(`SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`),
    backwards: prepare(
      `SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision <= ? ORDER BY revision DESC LIMIT ?`,
    ),
    close: () => db.close(),
  };
};

/** Error for the caller; every part is settled. */
const refusalOf = (error: SqliteError, parts: readonly UnitPart[], appends: readonly StreamAppend[]): Error => {
  const { code, details, at = Infinity } = error;
  const named = parts.map((part) => part.refused(error));
  const refused = appends[at - parts.length];
  if (refused && code === 'WrongExpectedRevision')
    return new WrongExpectedRevision(refused.stream, refused.expected, details as number);
  return named[at] ?? unavailable(error);
};

/** @throws AppendTooLarge */
const argumentsOf = ({ stream, events, expected }: StreamAppend): AppendArgs => {
  const dash = stream.indexOf('-');
  if (dash < 1) throw new RangeError(`${stream} is not a stream name of the form <category>-<id>`);
  if (events.length === 0) throw new RangeError(`nothing to append to ${stream}`);
  const args: AppendArgs = [stream, stream.slice(0, dash), expected];
  let characters = 0;
  for (const { id, type, schemaVersion, text } of events) {
    characters += text.data.length + text.metadata.length;
    args.push(id, type, schemaVersion, text.data, text.metadata);
  }
  // A UTF-16 unit is at most three bytes, so counting bytes is for the few large appends only.
  if (characters * 3 > MAX_APPEND_BYTES) {
    const bytes = args.reduce<number>(
      (sum, value, index) => (index > 2 && (index - 3) % 5 > 2 ? sum + Buffer.byteLength(value as string) : sum),
      0,
    );
    if (bytes > MAX_APPEND_BYTES) throw new AppendTooLarge(stream, bytes);
  }
  return args;
};

const unavailable = (error: unknown) =>
  new EventStoreUnavailable(`event store: ${(error as Error).message}`, { cause: error });

const toNumber = (position: Position): number => {
  if (!/^\d{1,15}$/.test(position)) throw new RangeError(`${position} is not a position of this store`);
  return Number(position);
};

const fromRows = (rows: Rows): RecordedEvent[] => {
  const events: RecordedEvent[] = [];
  for (let at = 0; at < rows.length; at += 8) {
    const stored = {
      position: String(rows[at]),
      stream: rows[at + 1] as string,
      revision: rows[at + 2] as number,
      id: rows[at + 3] as string,
      type: rows[at + 4] as string,
      schemaVersion: rows[at + 5] as number,
    };
    events.push(readText(stored, { data: rows[at + 6] as string, metadata: rows[at + 7] as string }));
  }
  return events;
};
