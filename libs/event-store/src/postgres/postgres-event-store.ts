import type { Pool } from 'pg';
import { engineOf, openDatabase, requireVersion, schemaVersion, type PostgresOptions } from '@attestry/postgres';
import { readText } from '../chain.js';
import {
  AppendTooLarge,
  EventStore,
  EventStoreUnavailable,
  MAX_APPEND_BYTES,
  storeInOrder,
  WrongExpectedRevision,
  type AllPage,
  type AppendResult,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
  type Revision,
  type StreamAppend,
  type StreamName,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionHandler,
  type UnitOfWork,
  type UnitPart,
  type UnitWrite,
} from '../event-store.js';
import { PagedSubscription } from '../paged-subscription.js';
import { Tail } from '../tail.js';
import {
  AppendGroups,
  type Append,
  type EventValues,
  type NewKey,
  type Unit,
  type UnitAnswer,
} from './append-groups.js';
import { Notifications } from './notifications.js';
import { PARTITIONED_EVENTS } from './partitioned-schema.js';
import { PartitionUpkeep } from './partition-upkeep.js';
import { PostgresCheckpoints, PostgresLeases } from './postgres-leases.js';
import { PostgresSnapshots } from './postgres-snapshots.js';
import { EVENT_TABLES, LEASE_TABLES } from './schema.js';
import { statementsOf, type EventRow, type PageRow, type Statement } from './statements.js';

/** Longest delay until events are found while no notifications arrive, milliseconds. */
const POLL_MS = 500;
/** The same while they do: a connection may be dead without being closed. */
const LISTENING_POLL_MS = 15_000;
/** A page ends early at this size: pages of large events must not fill the memory. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** The event store in PostgreSQL, for several processes (ADR 0017). Positions are decimal. */
export class PostgresEventStore extends EventStore {
  readonly leases: PostgresLeases;
  readonly checkpoints: PostgresCheckpoints;
  readonly snapshots: PostgresSnapshots;
  private readonly engine: object;
  private readonly statements: ReturnType<typeof statementsOf>;
  private readonly groups = new AppendGroups((group) => this.storeGroup(group));
  private readonly subscriptions = new Set<PagedSubscription>();
  private readonly tail = new Tail();
  private notifications: Notifications | undefined;
  /** Up to here this connection got every notification; undefined while it may have missed one. */
  private notifiedUpTo: number | undefined;
  private listening = false;
  private newest = 0;
  private pollTimer: NodeJS.Timeout | undefined;
  private polling = false;
  private polledAt = -Infinity;
  private upkeep: PartitionUpkeep | undefined;
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly pool: Pool,
    private readonly options: PostgresOptions,
    partitioned: boolean,
  ) {
    super();
    const { schema, url } = options;
    this.engine = engineOf(url);
    this.statements = statementsOf(schema, partitioned);
    this.leases = new PostgresLeases(pool, options);
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
    const appends = [{ stream, events, expected }];
    return this.store({ appends: appends.map(appendOf), keys: [] }, appends);
  }

  /** Writes to other stores come first, then one transaction with the new keys and all events. */
  override async commit({ writes, appends }: UnitOfWork): Promise<AppendResult> {
    const unit: Unit = { appends: appends.map(appendOf), keys: [] };
    const parts: UnitPart[] = [];
    try {
      const elsewhere: UnitWrite[] = [];
      for (const write of writes) {
        const part = await write.partOf(this.engine);
        if (part) parts.push(part);
        else elsewhere.push(write);
      }
      await storeInOrder(elsewhere);
      const keys = parts.map(({ args }) => args as NewKey);
      const all = parts.length ? { ...unit, keys, keySchema: parts[0]!.job } : unit;
      const result = await this.store(all, appends);
      for (const part of parts) part.stored?.();
      return result;
    } catch (error) {
      const refusals = parts.map((part) => part.refused(error as Error));
      throw error instanceof KeyRefused ? refusals[error.index]! : error;
    }
  }

  private async store(unit: Unit, given: readonly StreamAppend[]): Promise<AppendResult> {
    if (this.closing) throw new EventStoreUnavailable('the event store is closed');
    const [conflict, actual, position, fresh, refusals] = await this.groups.add(unit);
    if (position === null) {
      const refused = refusals.findIndex((refusal) => refusal !== null);
      if (refused >= 0) throw new KeyRefused(refusals[refused]!, refused);
      const { stream, expected } = unit.appends[conflict!]!;
      throw new WrongExpectedRevision(stream, expected, actual);
    }
    if (fresh) this.remember(given, Number(position));
    // The listener reports it with more detail.
    if (fresh && !this.listening) this.wake(Number(position));
    const { expected, events } = unit.appends.at(-1)!;
    return { revision: expected + events.length, position };
  }

  /** Groups are stored one after the other, and a position is one more than the one before unless another process had it. */
  private remember(appends: readonly StreamAppend[], last: number): void {
    let first = last + 1 - appends.reduce((sum, { events }) => sum + events.length, 0);
    for (const { stream, events, expected } of appends) {
      this.tail.add(stream, stream.slice(0, stream.indexOf('-')), first, expected + 1, events);
      first += events.length;
    }
  }

  /** For subscriptions: without a query while every event is one of this process. */
  private async readNewest(page: ReadAllOptions): Promise<AllPage> {
    const after = page.after === undefined ? 0 : toNumber(page.after);
    const isComplete = () => this.newest <= this.tail.newest;
    // The notification of an append may arrive before its result.
    if (!isComplete()) await this.groups.settled();
    return (isComplete() && this.tail.read(after, page.limit, page.categories)) || this.readAll(page);
  }

  async readStream(stream: StreamName, options: ReadStreamOptions = {}): Promise<RecordedEvent[]> {
    const backwards = options.direction === 'backwards';
    const from = options.from ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
    const statement = backwards ? this.statements.backwards : this.statements.forwards;
    const rows = await this.query<EventRow>(statement, [
      stream,
      from,
      options.limit ?? null,
      options.mostCharacters ?? null,
    ]);
    return rows.map(toEvent);
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
    const source = { readAll: (page: ReadAllOptions) => this.readNewest(page) };
    const subscription = new PagedSubscription(source, { ...options, after }, handler, () =>
      this.subscriptions.delete(subscription),
    );
    this.subscriptions.add(subscription);
    this.notifications ??= this.listen();
    this.pollTimer ??= setInterval(() => void this.pollWhenDue(), POLL_MS).unref();
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
      await Promise.all([this.groups.idle(), this.notifications?.close(), this.leases.close(), this.upkeep?.close()]);
      await this.pool.end();
    })();
    return this.closing;
  }

  private async storeGroup(group: readonly Unit[]): Promise<UnitAnswer[]> {
    const appends = group.flatMap((unit) => unit.appends);
    const all = appends.flatMap(({ events }) => events);
    const keys = group.flatMap((unit, at) => unit.keys.map((key) => ({ ...key, unit: at + 1 })));
    const values: unknown[] = [
      appends.map(({ stream }) => stream),
      appends.map(({ expected }) => expected),
      appends.map(({ events }) => events.length),
      ...[0, 1, 2, 3, 4].map((column) => all.map((event) => event[column])),
      group.map((unit) => unit.appends.length),
    ];
    let statement = this.statements.append;
    if (keys.length > 0) {
      statement = this.statements.appendWithKeys(group.find((unit) => unit.keySchema)!.keySchema!);
      values.push(
        ...(['tenant', 'purpose', 'id', 'sealed', 'value', 'unit'] as const).map((column) =>
          keys.map((key) => key[column] ?? null),
        ),
      );
    }
    const rows = await this.query<[number | null, string, string | null, boolean, (string | null)[] | null]>(
      statement,
      values,
    );
    let first = 0;
    return rows.map(([conflict, actual, position, fresh, refusals], at) => {
      const own = refusals?.slice(first, (first += group[at]!.keys.length)) ?? [];
      return [conflict, Number(actual), position, fresh, own];
    });
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

  private async pollWhenDue(): Promise<void> {
    if (!this.listening || performance.now() - this.polledAt >= LISTENING_POLL_MS) await this.poll();
  }

  private async poll(): Promise<void> {
    if (this.polling || this.subscriptions.size === 0) return;
    this.polling = true;
    this.polledAt = performance.now();
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

/** A key of a unit is not new, or was destroyed: `code` names the reason. */
class KeyRefused extends Error {
  constructor(
    readonly code: string,
    readonly index: number,
  ) {
    super(`a key was refused: ${code}`);
  }
}

const appendOf = ({ stream, events, expected }: StreamAppend): Append => {
  if (stream.indexOf('-') < 1) throw new RangeError(`${stream} is not a stream name of the form <category>-<id>`);
  if (events.length === 0) throw new RangeError(`nothing to append to ${stream}`);
  const values = events.map(({ id, type, schemaVersion, text }): EventValues => {
    return [id, type, schemaVersion, text.data, text.metadata];
  });
  const bytes = values.reduce((sum, [, , , data, metadata]) => sum + byteLength(data) + byteLength(metadata), 0);
  if (bytes > MAX_APPEND_BYTES) throw new AppendTooLarge(stream, bytes);
  return { stream, expected, events: values, bytes };
};

const byteLength = (value: string): number => Buffer.byteLength(value);

const toNumber = (position: Position): number => {
  if (!/^\d{1,15}$/.test(position)) throw new RangeError(`${position} is not a position of this store`);
  return Number(position);
};

const toEvent = ([position, stream, revision, id, type, schemaVersion, data, metadata]: EventRow): RecordedEvent =>
  readText({ position, stream, revision: Number(revision), id, type, schemaVersion }, { data, metadata });
