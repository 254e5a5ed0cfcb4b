/**
 * The event store port. Adapters: embedded/ (SQLite), eventstoredb/ and postgres/. Every adapter passes
 * event-store.contract.ts.
 *
 * Shaped by what the engines can do: no transaction over several streams in all of them, no filter on reading all but by category
 * or tenant, subscriptions that start exclusively and may be dropped, positions that mean nothing outside their adapter.
 */

/** `<category>-<id>`; for tenant data `<category>-<tenantId>+<id>`. The category has no dash. */
export type StreamName = string;

/** Opaque, comparable only by the adapter that made it. `undefined` is the beginning. */
export type Position = string;

/** Revision of the last event of a stream, from 0; `-1` means the stream has no event yet. */
export type Revision = number;
export const NO_STREAM: Revision = -1;

/** The metadata of every event: its cause. */
export interface EventMetadata {
  tenantId: string;
  requestId: string;
  /** `client:<id>`, `user:<id>`, `holder:<sessionId>`, `service:<name>` */
  actor: string;
  /** Name of the operation, for example `dids.create-did`, or of the reaction. */
  operation: string;
  correlationId: string;
  causationId: string;
  traceparent?: string;
  /** RFC 3339, UTC, milliseconds. */
  occurredAt: string;
  partitionKey: string;
  /** Consumers that copy from a feed store its sequence here, so that a redelivery cannot duplicate an event. */
  sourceSequence?: string;
  /** Record of the call that appended the event, on the first event of the call (ADR 0072). */
  record?: object;
}

export interface NewEvent<Type extends string = string, Data = unknown> {
  id: string;
  type: Type;
  schemaVersion: number;
  data: Data;
  metadata: EventMetadata;
  /** Links the event to the one before it in its stream; see chain.ts. */
  chain: string;
  text: EventText;
}

/** Data and metadata as JSON, as they are hashed, stored and returned, byte for byte; the metadata begin with the chain value (ADR 0067). */
export interface EventText {
  data: string;
  metadata: string;
}

export interface RecordedEvent<Type extends string = string, Data = unknown> extends NewEvent<Type, Data> {
  stream: StreamName;
  revision: Revision;
  position: Position;
}

export interface AppendResult {
  revision: Revision;
  position: Position;
}

/** Events of one stream, as {@link EventStore.append} takes them. */
export interface StreamAppend {
  stream: StreamName;
  events: readonly NewEvent[];
  expected: Revision;
}

/** A write as an engine stores it in the transaction of the events. */
export interface UnitPart {
  /** Name and arguments of a job of the engine that is asked. */
  job: string;
  args: unknown;
  /** After the transaction: it is durable. */
  stored?(): void;
  /** Instead: the error that the caller gets where the transaction failed by this part. */
  refused(error: Error): Error | undefined;
}

/** A key, or single-use values, that become durable together with the events of a command. It belongs to one unit of work. */
export interface UnitWrite {
  readonly kind: 'key' | 'single-use';
  /** Size of a value that is stored with a key. */
  readonly bytes?: number;
  /** Stores it alone; a repeated call has the outcome of the first. @throws what its store refuses */
  store(): Promise<void>;
  /** The same for an event store on this engine; `undefined` when it is stored elsewhere. */
  partOf(engine: object): Promise<UnitPart | undefined>;
}

/** Everything that a command stores: all of it, or nothing that counts (ADR 0074). */
export interface UnitOfWork {
  writes: readonly UnitWrite[];
  /** The last append decides: the others count only with it. */
  appends: readonly [...StreamAppend[], StreamAppend];
}

export interface ReadStreamOptions {
  /** First revision (inclusive), default 0; when reading backwards, default the end. */
  from?: Revision;
  direction?: 'forwards' | 'backwards';
  limit?: number;
  /** The read ends with the event with which data and metadata have more characters than this together. Default: no limit. */
  mostCharacters?: number;
}

export interface ReadAllOptions {
  /** Exclusive; absent means from the beginning. */
  after?: Position;
  /** Absent means every category. */
  categories?: readonly string[];
  limit: number;
}

export interface AllPage {
  events: RecordedEvent[];
  /** Where to continue: never before `after`, and past events that the category filter hid. Absent only when the store is empty. */
  next?: Position;
  /** True when nothing more was stored when the page was read. */
  atEnd: boolean;
}

export interface SubscribeOptions {
  after?: Position;
  categories?: readonly string[];
  /** Most events handed over at once. Default 256. */
  batchSize?: number;
}

export interface SubscriptionHandler {
  /**
   * Receives the events since the last call, in order. The next batch follows when it resolves. `next` is the position to store as
   * checkpoint; `events` may be empty when the filter hid a long range. When it rejects, the subscription ends and `onDropped` is called.
   */
  onEvents(events: RecordedEvent[], next: Position): Promise<void>;
  /** The subscription ended by itself (handler failed, connection lost, too slow). Resubscribe from the last checkpoint. */
  onDropped(error: Error): void;
}

export interface Subscription {
  /** Stops delivery and waits for a batch being handled. */
  close(): Promise<void>;
}

/** The stream was not at the expected revision: a concurrent append came first. */
export class WrongExpectedRevision extends Error {
  override readonly name = 'WrongExpectedRevision';
  readonly code = 'WrongExpectedRevision';
  constructor(
    readonly stream: StreamName,
    readonly expected: Revision,
    readonly actual: Revision,
  ) {
    super(`stream ${stream} is at revision ${actual}, expected ${expected}`);
  }
}

/** Most bytes one append may hold: the data and metadata of its events as JSON (EventStoreDB's default limit). */
export const MAX_APPEND_BYTES = 1024 * 1024;

/** The events of one append are larger than {@link MAX_APPEND_BYTES}; nothing was stored. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  readonly code = 'AppendTooLarge';
  constructor(
    readonly stream: StreamName,
    readonly bytes: number,
  ) {
    super(`an append of ${bytes} bytes to ${stream} is over the limit of ${MAX_APPEND_BYTES}`);
  }
}

/** The engine is unreachable or refused; whether anything was stored is unknown. */
export class EventStoreUnavailable extends Error {
  override readonly name = 'EventStoreUnavailable';
  readonly code = 'EventStoreUnavailable';
}

/** The events of a store in the order of their positions: what projections, subscriptions and other followers read. */
export abstract class EventLog {
  /** A page over all streams in the order of their positions. A later position is never visible before an earlier one. */
  abstract readAll(options: ReadAllOptions): Promise<AllPage>;

  /** Pushes events after a position (exclusive), first those stored, then new ones. At least once. */
  abstract subscribe(options: SubscribeOptions, handler: SubscriptionHandler): Subscription;

  /** Position of the newest event, `undefined` when there is none. */
  abstract head(): Promise<Position | undefined>;

  /** Negative, 0 or positive, as `Array.prototype.sort` wants it. */
  abstract comparePositions(a: Position, b: Position): number;

  /** Whether a consumer at this position is ahead of the log. */
  isBeyond(position: Position, head: Position | undefined): boolean {
    return head === undefined || this.comparePositions(position, head) > 0;
  }
}

/** A key that nothing uses does no harm; a value that may be used twice would. */
export const storeInOrder = async (writes: readonly UnitWrite[]): Promise<void> => {
  for (const kind of ['key', 'single-use'])
    await Promise.all(writes.filter((write) => write.kind === kind).map((write) => write.store()));
};

export abstract class EventStore extends EventLog {
  /**
   * Appends events to one stream, all or none, durable when it resolves.
   * Idempotent by event id: when exactly these ids already follow `expected`, the first result is returned again.
   * An append that shares only some ids with what is stored there is a WrongExpectedRevision.
   * @throws WrongExpectedRevision, AppendTooLarge, EventStoreUnavailable
   */
  abstract append(stream: StreamName, events: readonly NewEvent[], expected: Revision): Promise<AppendResult>;

  /**
   * Stores a unit of work, durable when it resolves with the result of its last append: in one transaction as far as the engine has one in
   * common for its parts, otherwise in order: keys, single-use values, further streams, the last append. May be repeated after a failure.
   * @throws WrongExpectedRevision of any of the streams, AppendTooLarge, EventStoreUnavailable, what the store of a write refuses
   */
  async commit({ writes, appends }: UnitOfWork): Promise<AppendResult> {
    await storeInOrder(writes);
    const append = ({ stream, events, expected }: StreamAppend) => this.append(stream, events, expected);
    await Promise.all(appends.slice(0, -1).map(append));
    return append(appends.at(-1)!);
  }

  /** Events of one stream in the requested direction; empty for a stream that does not exist. */
  abstract readStream(stream: StreamName, options?: ReadStreamOptions): Promise<RecordedEvent[]>;

  /**
   * Revision of a stream's last event if the adapter has it without a query, because no other process can append; then a folded
   * state of that revision is current. -1: it does not exist. `undefined`: unknown.
   */
  knownRevision(_stream: StreamName): Revision | undefined {
    return undefined;
  }

  /** A name with an id that was just made, which no other caller knows: no stream has it, until this process appends to it. */
  noteUnused(_stream: StreamName): void {}

  /**
   * A page over the events of a tenant: those of streams with its id in their name, `<category>-<tenantId>+<id>`, and of streams without a
   * tenant in their name the events with its id in their metadata. Pages are as those of {@link readAll}.
   */
  abstract readTenant(tenantId: string, after: Position | undefined, limit: number): Promise<AllPage>;

  /**
   * Names of the streams with events of a tenant, in the order of their bytes and behind `afterName`. A stream without a tenant in its name is
   * listed for each tenant that has events in it. Fewer names than `limit`: there are no more.
   */
  abstract tenantStreams(tenantId: string, afterName: StreamName | undefined, limit: number): Promise<StreamName[]>;

  abstract close(): Promise<void>;
}

/** A granted lease; `epoch` grows with every new holder and fences off the writes of older ones. */
export interface Lease {
  name: string;
  holder: string;
  epoch: number;
  /** Milliseconds since the epoch, by the store's clock. */
  expiresAt: number;
}

/**
 * Named leases. A holder whose lease expired may not have detected that; its writes must be conditional on the epoch, which is what
 * {@link Leases.isHeld} and the checkpoints of libs/read-model are for (ADR 0057).
 */
export abstract class Leases {
  /** Grants the lease when it is free, expired or held by the caller; `undefined` when another process holds it. */
  abstract acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Extends our lease; `undefined` when it was lost. */
  abstract renew(lease: Lease, ttlMs: number): Promise<Lease | undefined>;
  /** Releases it; a lost lease is left alone. */
  abstract release(lease: Lease): Promise<void>;
  /** False as soon as a newer epoch exists or the lease expired. */
  abstract isHeld(lease: Lease): Promise<boolean>;
  /** Calls back when the lease was released, and when a release may have been missed. Not every engine reports releases. */
  watchReleases(_name: string, _onReleased: () => void): ReleaseWatch {
    return UNREPORTED;
  }
}

export interface ReleaseWatch {
  /** False while releases are not reported. */
  readonly isLive: boolean;
  close(): void;
}

const UNREPORTED: ReleaseWatch = { isLive: false, close: () => undefined };
