import type { Pool } from 'pg';
import { openDatabase, requireVersion, schemaVersion, type PostgresOptions } from '@attestry/postgres';
import { readText } from '../chain.js';
import {
  AppendTooLarge,
  EventStore,
  EventStoreUnavailable,
  MAX_APPEND_BYTES,
  WrongExpectedRevision,
  type AllPage,
  type AppendResult,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
  type Revision,
  type StreamName,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionHandler,
} from '../event-store.js';
import { PagedSubscription } from '../paged-subscription.js';
import { AppendGroups, type Append, type AppendAnswer, type EventValues } from './append-groups.js';
import { Notifications } from './notifications.js';
import { PARTITIONED_EVENTS } from './partitioned-schema.js';
import { PartitionUpkeep } from './partition-upkeep.js';
import { PostgresCheckpoints, PostgresLeases } from './postgres-leases.js';
import { PostgresSnapshots } from './postgres-snapshots.js';
import { EVENT_TABLES, LEASE_TABLES } from './schema.js';
import { statementsOf, type EventRow, type PageRow, type Statement } from './statements.js';

/** A notification may be lost with its connection: longest delay until events are found. */
const POLL_MS = 500;
/** A page ends early at this size: pages of large events must not fill the memory. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** The event store in PostgreSQL, for several processes (ADR 0017). Positions are decimal. */
export class PostgresEventStore extends EventStore {
  readonly leases: PostgresLeases;
  readonly checkpoints: PostgresCheckpoints;
  readonly snapshots: PostgresSnapshots;
  private readonly statements: ReturnType<typeof statementsOf>;
  private readonly groups = new AppendGroups((group) => this.appendGroup(group));
  private readonly subscriptions = new Set<PagedSubscription>();
  private notifications: Notifications | undefined;
  /** Up to here this connection got every notification; undefined while it may have missed one. */
  private notifiedUpTo: number | undefined;
  private listening = false;
  private newest = 0;
  private pollTimer: NodeJS.Timeout | undefined;
  private polling = false;
  private upkeep: PartitionUpkeep | undefined;
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly pool: Pool,
    private readonly options: PostgresOptions,
    partitioned: boolean,
  ) {
    super();
    const { schema } = options;
    this.statements = statementsOf(schema, partitioned);
    this.leases = new PostgresLeases(pool, schema);
    this.checkpoints = new PostgresCheckpoints(pool, schema);
    this.snapshots = new PostgresSnapshots(pool, schema);
  }

  /**
   * A store on events kept forever or in partitions, as they were migrated; it maintains the partitions while it is open.
   * @throws Error when the tables are missing or those of an older release
   */
  static async connect(options: PostgresOptions): Promise<PostgresEventStore> {
    const pool = await openDatabase(options, LEASE_TABLES);
    try {
      const partitioned = (await schemaVersion(pool, options.schema, PARTITIONED_EVENTS.component)) > 0;
      await requireVersion(pool, options.schema, partitioned ? PARTITIONED_EVENTS : EVENT_TABLES);
      const store = new PostgresEventStore(pool, options, partitioned);
      if (partitioned) await store.keepPartitions();
      return store;
    } catch (error) {
      await pool.end();
      throw error;
    }
  }

  async append(stream: StreamName, events: readonly NewEvent[], expected: Revision): Promise<AppendResult> {
    if (stream.indexOf('-') < 1) throw new RangeError(`${stream} is not a stream name of the form <category>-<id>`);
    if (events.length === 0) throw new RangeError(`nothing to append to ${stream}`);
    const values = events.map(({ id, type, schemaVersion, text }): EventValues => {
      return [id, type, schemaVersion, text.data, text.metadata];
    });
    const bytes = values.reduce((sum, [, , , data, metadata]) => sum + byteLength(data) + byteLength(metadata), 0);
    if (bytes > MAX_APPEND_BYTES) throw new AppendTooLarge(stream, bytes);
    if (this.closing) throw new EventStoreUnavailable('the event store is closed');
    const [actual, position, fresh] = await this.groups.append({ stream, expected, events: values, bytes });
    if (position === null) throw new WrongExpectedRevision(stream, expected, actual);
    // The listener reports it with more detail.
    if (fresh && !this.listening) this.wake(Number(position));
    return { revision: expected + events.length, position };
  }

  async readStream(stream: StreamName, options: ReadStreamOptions = {}): Promise<RecordedEvent[]> {
    const backwards = options.direction === 'backwards';
    const from = options.from ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
    const statement = backwards ? this.statements.backwards : this.statements.forwards;
    return (await this.query<EventRow>(statement, [stream, from, options.limit ?? null])).map(toEvent);
  }

  async readAll(options: ReadAllOptions): Promise<AllPage> {
    const { after, limit, categories } = options;
    return categories
      ? this.readPage(this.statements.ofCategories, after, limit, [...new Set(categories)])
      : this.readPage(this.statements.all, after, limit);
  }

  readTenant(tenantId: string, after: Position | undefined, limit: number): Promise<AllPage> {
    return this.readPage(this.statements.ofTenant, after, limit, tenantId);
  }

  async tenantStreams(tenantId: string, afterName: StreamName | undefined, limit: number): Promise<StreamName[]> {
    const { tenantStreams } = this.statements;
    return (await this.query<[StreamName]>(tenantStreams, [tenantId, afterName ?? '', limit])).map(([name]) => name);
  }

  private async readPage(
    statement: Statement,
    position: Position | undefined,
    limit: number,
    ...filter: unknown[]
  ): Promise<AllPage> {
    if (!(limit >= 1)) throw new RangeError(`limit is ${limit}, expected 1 or more`);
    const after = position === undefined ? 0 : toNumber(position);
    const rows = await this.query<PageRow>(statement, [after, limit, PAGE_BYTES, ...filter]);
    const head = Math.max(Number(rows[0]![0]), after);
    const events = rows.filter(([, , position]) => position !== null).map(([, , ...row]) => toEvent(row));
    const full = events.length === limit || Number(rows.at(-1)![1]) >= PAGE_BYTES;
    const next = full ? Number(events.at(-1)!.position) : head;
    return { events, next: next > 0 ? String(next) : undefined, atEnd: next === head };
  }

  subscribe(options: SubscribeOptions, handler: SubscriptionHandler): Subscription {
    if (this.closing) throw new EventStoreUnavailable('the event store is closed');
    const after = options.after === undefined ? 0 : toNumber(options.after);
    const subscription = new PagedSubscription(this, { ...options, after }, handler, () =>
      this.subscriptions.delete(subscription),
    );
    this.subscriptions.add(subscription);
    subscription.wake();
    this.notifications ??= this.listen();
    this.pollTimer ??= setInterval(() => void this.poll(), POLL_MS).unref();
    return subscription;
  }

  async head(): Promise<Position | undefined> {
    const [row] = await this.query<[head: string | null]>(this.statements.head, []);
    return row![0] ?? undefined;
  }

  comparePositions(a: Position, b: Position): number {
    return toNumber(a) - toNumber(b);
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      clearInterval(this.pollTimer);
      await Promise.all([...this.subscriptions].map((subscription) => subscription.close()));
      await Promise.all([this.groups.idle(), this.notifications?.close(), this.upkeep?.close()]);
      await this.pool.end();
    })();
    return this.closing;
  }

  private async appendGroup(group: readonly Append[]): Promise<AppendAnswer[]> {
    const all = group.flatMap(({ events }) => events);
    const rows = await this.query<[actual: string, position: string | null, fresh: boolean]>(this.statements.append, [
      group.map(({ stream }) => stream),
      group.map(({ expected }) => expected),
      group.map(({ events }) => events.length),
      ...[0, 1, 2, 3, 4].map((column) => all.map((event) => event[column])),
    ]);
    return rows.map(([actual, position, fresh]) => [Number(actual), position, fresh]);
  }

  private async keepPartitions(): Promise<void> {
    const step = async () => (await this.query<[string | null]>(this.statements.keepPartitions, []))[0]![0];
    this.upkeep = new PartitionUpkeep(step, this.options.onFailure);
    await this.upkeep.start();
  }

  /** Notifications about appends of any process, this one included. */
  private listen(): Notifications {
    return new Notifications(this.options, this.statements.channel, {
      onConnected: () => {
        this.listening = true;
        void this.poll();
      },
      onNotified: (payload) => {
        const [last, categories] = JSON.parse(payload) as [number, string[]?];
        const after = this.notifiedUpTo;
        this.notifiedUpTo = last;
        this.newest = Math.max(this.newest, last);
        for (const subscription of this.subscriptions)
          if (after === undefined || categories === undefined) subscription.wake();
          else subscription.appended(categories, after, last);
      },
      onConnectionLost: () => {
        this.listening = false;
        this.notifiedUpTo = undefined;
      },
    });
  }

  private async poll(): Promise<void> {
    if (this.polling || this.subscriptions.size === 0) return;
    this.polling = true;
    try {
      this.wake(Number((await this.head()) ?? 0));
    } catch (error) {
      for (const subscription of [...this.subscriptions]) subscription.endWithError(error as Error);
    } finally {
      this.polling = false;
    }
  }

  private wake(position: number): void {
    if (position <= this.newest) return;
    this.newest = position;
    for (const subscription of this.subscriptions) subscription.wake();
  }

  private async query<Row extends unknown[]>(statement: Statement, values: unknown[]): Promise<Row[]> {
    try {
      const { rows } = await this.pool.query<Row>({ ...statement, values, rowMode: 'array' });
      return rows;
    } catch (error) {
      throw new EventStoreUnavailable(`event store: ${(error as Error).message}`, { cause: error });
    }
  }
}

const byteLength = (value: string): number => Buffer.byteLength(value);

const toNumber = (position: Position): number => {
  if (!/^\d{1,15}$/.test(position)) throw new RangeError(`${position} is not a position of this store`);
  return Number(position);
};

const toEvent = ([position, stream, revision, id, type, schemaVersion, data, metadata]: EventRow): RecordedEvent =>
  readText({ position, stream, revision: Number(revision), id, type, schemaVersion }, { data, metadata });
