import { setTimeout as pause } from 'node:timers/promises';
import pg, { type Pool } from 'pg';
import { openDatabase, poolSettings, type PostgresOptions } from '@attestry/postgres';
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
import { PostgresCheckpoints, PostgresLeases } from './postgres-leases.js';
import { EVENT_TABLES, LEASE_TABLES } from './schema.js';

/** A notification may be lost with its connection: events are found at the latest so much later. */
const POLL_MS = 500;
const MOST_APPENDS = 256;
const MOST_CHARACTERS = 8 * 1024 * 1024;

interface PendingAppend {
  /** JSON of one member of `append_group`'s argument. */
  text: string;
  resolve: (row: AppendRow) => void;
  reject: (error: Error) => void;
}

interface AppendRow {
  actual: string;
  last_position: string | null;
  fresh: boolean;
}

interface EventRow {
  position: string;
  stream: string;
  revision: string;
  id: string;
  type: string;
  schema_version: number;
  data: string;
  metadata: string;
}

const COLUMNS = 'position, stream, revision, id, type, schema_version, data, metadata';

/** The event store in PostgreSQL, for several processes. Positions are decimal. */
export class PostgresEventStore extends EventStore {
  readonly leases: PostgresLeases;
  readonly checkpoints: PostgresCheckpoints;
  private readonly schema: string;
  private readonly subscriptions = new Set<PagedSubscription>();
  private readonly stopping = new AbortController();
  private readonly pending: PendingAppend[] = [];
  private appending: Promise<void> | undefined;
  private listening: Promise<void> | undefined;
  private newest = 0;
  private poll: NodeJS.Timeout | undefined;
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly pool: Pool,
    private readonly options: PostgresOptions,
  ) {
    super();
    this.schema = options.schema;
    this.leases = new PostgresLeases(pool, this.schema);
    this.checkpoints = new PostgresCheckpoints(pool, this.schema);
  }

  /** @throws Error when the tables are missing or those of an older release */
  static async open(options: PostgresOptions): Promise<PostgresEventStore> {
    return new PostgresEventStore(await openDatabase(options, LEASE_TABLES, EVENT_TABLES), options);
  }

  async append(stream: StreamName, events: readonly NewEvent[], expected: Revision): Promise<AppendResult> {
    const dash = stream.indexOf('-');
    if (dash < 1) throw new RangeError(`${stream} is no stream name: <category>-<id>`);
    if (events.length === 0) throw new RangeError(`nothing to append to ${stream}`);
    const values = events.map(({ id, type, schemaVersion, data, metadata }) => [
      id,
      type,
      schemaVersion,
      JSON.stringify(data),
      JSON.stringify(metadata),
    ]);
    const bytes = values.reduce((sum, [, , , data, metadata]) => sum + byteLength(data) + byteLength(metadata), 0);
    if (bytes > MAX_APPEND_BYTES) throw new AppendTooLarge(stream, bytes);
    const text = JSON.stringify({ stream, category: stream.slice(0, dash), expected, events: values });
    const { actual, last_position: last, fresh } = await this.appended(text);
    if (last === null) throw new WrongExpectedRevision(stream, expected, Number(actual));
    if (fresh) this.wake(Number(last));
    return { revision: expected + events.length, position: last };
  }

  async readStream(stream: StreamName, options: ReadStreamOptions = {}): Promise<RecordedEvent[]> {
    const backwards = options.direction === 'backwards';
    const from = options.from ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
    const { rows } = await this.ask<EventRow>(
      `SELECT ${COLUMNS} FROM ${this.schema}.events WHERE stream = $1 AND revision ${backwards ? '<=' : '>='} $2
       ORDER BY revision ${backwards ? 'DESC' : 'ASC'} LIMIT $3`,
      [stream, from, options.limit ?? null],
    );
    return rows.map(toEvent);
  }

  async readAll(options: ReadAllOptions): Promise<AllPage> {
    const { limit } = options;
    if (!(limit >= 1)) throw new RangeError(`limit is ${limit}, expected 1 or more`);
    const after = options.after === undefined ? 0 : toNumber(options.after);
    const categories = options.categories && [...new Set(options.categories)];
    const page = categories
      ? // Each category through its index, then merged: reading on costs the same however much the filter hides.
        `SELECT e.* FROM unnest($3::text[]) AS category CROSS JOIN LATERAL (
           SELECT ${COLUMNS} FROM ${this.schema}.events WHERE category = category.category AND position > $1
           ORDER BY position LIMIT $2) AS e ORDER BY e.position LIMIT $2`
      : `SELECT ${COLUMNS} FROM ${this.schema}.events WHERE position > $1 ORDER BY position LIMIT $2`;
    // One statement sees one moment: what is behind the page and the page itself belong together.
    const { rows } = await this.ask<EventRow & { head: string }>(
      `SELECT head, page.* FROM (SELECT coalesce(max(position), 0) AS head FROM ${this.schema}.events) AS newest
       LEFT JOIN (${page}) AS page ON true ORDER BY page.position`,
      [after, limit, ...(categories ? [categories] : [])],
    );
    const head = Math.max(Number(rows[0]!.head), after);
    const events = rows.filter(({ position }) => position !== null).map(toEvent);
    const full = events.length === limit;
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
    this.listening ??= this.listen();
    this.poll ??= setInterval(() => void this.look(), POLL_MS).unref();
    return subscription;
  }

  async head(): Promise<Position | undefined> {
    const { rows } = await this.ask<{ head: string | null }>(`SELECT max(position) AS head FROM ${this.schema}.events`);
    return rows[0]!.head ?? undefined;
  }

  comparePositions(a: Position, b: Position): number {
    return toNumber(a) - toNumber(b);
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      clearInterval(this.poll);
      this.stopping.abort();
      await Promise.all([...this.subscriptions].map((subscription) => subscription.close()));
      await Promise.all([this.appending, this.listening]);
      await this.pool.end();
    })();
    return this.closing;
  }

  /** Joins the next group: one group at a time, so that what comes meanwhile shares a transaction. */
  private appended(text: string): Promise<AppendRow> {
    if (this.closing) return Promise.reject(new EventStoreUnavailable('the event store is closed'));
    return new Promise((resolve, reject) => {
      this.pending.push({ text, resolve, reject });
      this.appending ??= this.appendGroups().finally(() => (this.appending = undefined));
    });
  }

  private async appendGroups(): Promise<void> {
    // What the caller appends in the same turn belongs into the same transaction.
    await Promise.resolve();
    while (this.pending.length) {
      let characters = 0;
      const count = this.pending.findIndex(
        ({ text }, at) => at > 0 && (at >= MOST_APPENDS || (characters += text.length) > MOST_CHARACTERS),
      );
      const group = this.pending.splice(0, count < 0 ? this.pending.length : count);
      try {
        const { rows } = await this.ask<AppendRow>(
          `SELECT actual, last_position, fresh FROM ${this.schema}.append_group($1)`,
          [`[${group.map(({ text }) => text).join(',')}]`],
        );
        group.forEach(({ resolve }, at) => resolve(rows[at]!));
      } catch (error) {
        for (const { reject } of group) reject(error as Error);
      }
    }
  }

  /** Hears of other processes' appends; the connection is made anew until the store is closed. */
  private async listen(): Promise<void> {
    const { signal } = this.stopping;
    for (let failures = 0; !signal.aborted; failures++) {
      // A connection that only waits has no statement that could take too long.
      const client = new pg.Client({ ...poolSettings(this.options), statement_timeout: 0, query_timeout: 0 });
      const ended = new Promise<void>((resolve) => {
        client.once('end', resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      client.on('error', this.options.onFailure);
      client.on('notification', ({ payload }) => this.wake(Number(payload)));
      try {
        await client.connect();
        await client.query(`LISTEN "${this.schema}.events"`);
        failures = 0;
        void this.look();
        await ended;
        await client.end();
      } catch (error) {
        if (!signal.aborted) this.options.onFailure(error as Error);
      }
      // Also when it is aborted: the loop's condition ends it.
      await pause(Math.min(100 * 2 ** failures, 5000), undefined, { signal }).catch(() => failures);
    }
  }

  private async look(): Promise<void> {
    if (this.subscriptions.size === 0) return;
    try {
      this.wake(Number((await this.head()) ?? 0));
    } catch (error) {
      for (const subscription of [...this.subscriptions]) subscription.drop(error as Error);
    }
  }

  private wake(position: number): void {
    if (position <= this.newest) return;
    this.newest = position;
    for (const subscription of this.subscriptions) subscription.wake();
  }

  private async ask<Row extends object>(text: string, values: unknown[] = []): Promise<{ rows: Row[] }> {
    try {
      return await this.pool.query<Row & Record<string, unknown>>(text, values);
    } catch (error) {
      throw new EventStoreUnavailable(`event store: ${(error as Error).message}`, { cause: error });
    }
  }
}

const byteLength = (value: string | number | undefined): number => Buffer.byteLength(value as string);

const toNumber = (position: Position): number => {
  if (!/^\d{1,15}$/.test(position)) throw new RangeError(`${position} is no position of this store`);
  return Number(position);
};

const toEvent = (row: EventRow): RecordedEvent => ({
  position: row.position,
  stream: row.stream,
  revision: Number(row.revision),
  id: row.id,
  type: row.type,
  schemaVersion: row.schema_version,
  data: JSON.parse(row.data) as unknown,
  metadata: JSON.parse(row.metadata) as RecordedEvent['metadata'],
});
