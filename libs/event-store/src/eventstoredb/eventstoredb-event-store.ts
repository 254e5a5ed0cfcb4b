import { randomUUID } from 'node:crypto';
import type {
  AllPage,
  AppendResult,
  NewEvent,
  Position,
  ReadAllOptions,
  ReadStreamOptions,
  RecordedEvent,
  Revision,
  StreamName,
  SubscribeOptions,
  Subscription,
  SubscriptionHandler,
} from '../event-store.js';
import {
  AppendTooLarge,
  EventStore,
  EventStoreUnavailable,
  MAX_APPEND_BYTES,
  NO_STREAM,
  WrongExpectedRevision,
} from '../event-store.js';
import { tenantOf } from '../tenant-of.js';
import { BatchAppend } from './batch-append.js';
import { EventStoreDbConnection } from './eventstoredb-connection.js';
import { EventStoreDbSubscription } from './eventstoredb-subscription.js';
import { comparePositions, fromText, latest, toText, type LogPosition } from './log-position.js';
import {
  byteLength,
  encodeEvent,
  filteredRequest,
  logRequest,
  recordOf,
  streamRequest,
  type LogRecord,
} from './messages.js';
import { charactersOf } from '../stream-pages.js';
import { StreamNames, type StreamFilter } from './stream-names.js';

export interface EventStoreDbOptions {
  /** `esdb://user:password@host:port?tls=true&tlsCAFile=…`, several hosts or `esdb+discover://` for a cluster. */
  url: string;
  /** Prefix of this platform's stream names, where several share a server: letters, digits and `_`. */
  prefix?: string | undefined;
  /** Events older than this are discarded: the server hides them at once and removes them when it scavenges. Default: kept forever. */
  retentionDays?: number;
  /** How long an append or the next part of a read may take, milliseconds. Default 5,000. */
  timeoutMs?: number;
  /** A connection failed and no new one could be made; the next call retries. */
  onFailure: (error: Error) => void;
}

const DAY_SECONDS = 86_400;
/** The server skips some 100,000 records of other categories a second without a message. */
const SCAN_MS = 60_000;
/** Records that a page requests at least; it ends with the first events that fill it. */
const READ_AHEAD = 512;
/** Events of a tenant that are read at once to list its streams. */
const SCAN_PAGE = 4096;

const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/**
 * The event store in EventStoreDB, for several processes. Leases and checkpoints are stored elsewhere. Positions are `<commit>/<prepare>`.
 * Records of other applications on the same server are not shown; no other application writes to the platform's streams.
 */
export class EventStoreDbStore extends EventStore {
  private readonly subscriptions = new Set<EventStoreDbSubscription>();
  private readonly batches: BatchAppend;
  private readonly names: StreamNames;
  private readonly timeoutMs: number;
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly connection: EventStoreDbConnection,
    private readonly options: EventStoreDbOptions,
  ) {
    super();
    this.timeoutMs = options.timeoutMs ?? 5000;
    this.names = new StreamNames(options.prefix);
    this.batches = new BatchAppend(connection, this.timeoutMs);
  }

  /** @throws EventStoreUnavailable when the server does not respond or refuses; Error for an address that cannot be used */
  static async connect(options: EventStoreDbOptions): Promise<EventStoreDbStore> {
    const store = new EventStoreDbStore(new EventStoreDbConnection(options.url, options.onFailure), options);
    try {
      await store.head();
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  async append(stream: StreamName, events: readonly NewEvent[], expected: Revision): Promise<AppendResult> {
    const name = this.names.outer(stream);
    if (events.length === 0) throw new RangeError(`nothing to append to ${stream}`);
    const encoded = events.map(encodeEvent);
    const bytes = byteLength(encoded);
    if (bytes > MAX_APPEND_BYTES) throw new AppendTooLarge(stream, bytes);
    // In one turn, so that no other append comes between: the server processes them in their order.
    const limited = expected === NO_STREAM ? this.limitAge(stream, name) : undefined;
    const [result] = await Promise.all([this.batches.append(stream, name, encoded, expected), limited]);
    return result;
  }

  async readStream(stream: StreamName, options: ReadStreamOptions = {}): Promise<RecordedEvent[]> {
    const { from, direction, limit, mostCharacters = Infinity } = options;
    let characters = 0;
    if (limit === 0) return [];
    const events: RecordedEvent[] = [];
    const request = streamRequest(this.names.outer(stream), { from, backwards: direction === 'backwards', limit });
    await this.connection.read(request, this.timeoutMs, (response) => {
      const record = recordOf(response, this.names);
      if (!record) return true;
      if (!record.event) throw new Error(`${stream}: revision ${record.revision} was written by something else`);
      characters += charactersOf([record.event]);
      return events.push(record.event) !== limit && characters <= mostCharacters;
    });
    return events;
  }

  readAll({ after, categories, limit }: ReadAllOptions): Promise<AllPage> {
    return this.readPage(
      categories?.length === 0 ? undefined : this.names.ofCategories(categories),
      () => true,
      after,
      limit,
    );
  }

  readTenant(tenantId: string, after: Position | undefined, limit: number): Promise<AllPage> {
    return this.readPage(this.names.ofTenant(tenantId), (event) => tenantOf(event) === tenantId, after, limit);
  }

  /** Reads all events of the tenant: the server lists no names (ADR 0068). */
  async tenantStreams(tenantId: string, afterName: StreamName | undefined, limit: number): Promise<StreamName[]> {
    let names: StreamName[] = [];
    for (let after: Position | undefined, atEnd = false; !atEnd;) {
      const page = await this.readTenant(tenantId, after, SCAN_PAGE);
      const found = page.events.map(({ stream }) => stream);
      const wanted = found.filter((name) => afterName === undefined || compareBytes(name, afterName) > 0);
      names = [...new Set([...names, ...wanted])].sort(compareBytes).slice(0, limit);
      ({ next: after, atEnd } = page);
    }
    return names;
  }

  /** @param streams those that the server sends; absent means none */
  private async readPage(
    streams: StreamFilter | undefined,
    isWanted: (event: RecordedEvent) => boolean,
    after: Position | undefined,
    limit: number,
  ): Promise<AllPage> {
    if (!(limit >= 1)) throw new RangeError(`limit is ${limit}, expected 1 or more`);
    const from = after === undefined ? undefined : fromText(after);
    // Before the events: a page that is not full has then seen everything up to here, including what the filter hides.
    const head = await this.lastPosition();
    if (!head || (from && comparePositions(from, head) >= 0)) return { events: [], next: after, atEnd: true };
    const events: RecordedEvent[] = [];
    // The server starts with the record at `from` itself, and its filter may let records of other applications through.
    const most = Math.max(limit + 1, READ_AHEAD);
    let received = 0;
    let last: LogPosition | undefined;
    if (streams)
      await this.connection.read(filteredRequest(streams, { from, limit: most }), SCAN_MS, (response) => {
        const record = recordOf(response, this.names);
        if (!record) return true;
        received++;
        if (from && comparePositions(record.position, from) <= 0) return true;
        last = record.position;
        return !record.event || !isWanted(record.event) || events.push(record.event) !== limit;
      });
    // Records that are not wanted count for the server, too.
    const isFull = events.length === limit || received === most;
    const next = isFull ? last! : latest(head, last)!;
    return { events, next: toText(next), atEnd: comparePositions(next, head) >= 0 };
  }

  subscribe(options: SubscribeOptions, handler: SubscriptionHandler): Subscription {
    if (this.closing) throw new EventStoreUnavailable('the event store is closed');
    const { after, categories, batchSize = 256 } = options;
    const source = {
      connection: this.connection,
      head: () => this.lastPosition(),
      firstFrom: (position: LogPosition) => this.readOne(position),
      names: this.names,
    };
    const subscription = new EventStoreDbSubscription(
      source,
      { after: after === undefined ? undefined : fromText(after), categories, batchSize },
      handler,
      () => this.subscriptions.delete(subscription),
    );
    this.subscriptions.add(subscription);
    return subscription;
  }

  /** The last record of the log, also one of the server's own: a subscription that caught up reports no earlier position. */
  async head(): Promise<Position | undefined> {
    const head = await this.lastPosition();
    return head && toText(head);
  }

  comparePositions(a: Position, b: Position): number {
    return comparePositions(fromText(a), fromText(b));
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      await Promise.all([...this.subscriptions].map((subscription) => subscription.close()));
      this.connection.close();
    })();
    return this.closing;
  }

  private async lastPosition(): Promise<LogPosition | undefined> {
    return (await this.readOne())?.position;
  }

  /** The first record at or after a position; without one the last of the log. */
  private async readOne(from?: LogPosition): Promise<LogRecord | undefined> {
    let found: LogRecord | undefined;
    const request = logRequest({ from, backwards: from === undefined, limit: 1 });
    await this.connection.read(
      request,
      this.timeoutMs,
      (response) => (found = recordOf(response, this.names)) === undefined,
    );
    return found;
  }

  /** Sent before the stream's first event, so that every stream has it; a second attempt finds it done. */
  private async limitAge(stream: StreamName, name: string): Promise<void> {
    const { retentionDays } = this.options;
    if (retentionDays === undefined) return;
    const metadata = { $maxAge: Math.ceil(retentionDays * DAY_SECONDS) };
    const event = {
      id: randomUUID(),
      type: '$metadata',
      data: Buffer.from(JSON.stringify(metadata)),
      metadata: Buffer.alloc(0),
    };
    try {
      await this.batches.append(stream, `$$${name}`, [event], NO_STREAM);
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
    }
  }
}
