import { setTimeout as pause } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { Aggregate, Decided, DomainEvent, EventContext, EventRecord, Loaded } from './aggregate.js';
import { UnknownEventType } from './aggregate.js';
import { CHAIN_START, chainEvent } from './chain.js';
import type {
  AppendResult,
  EventMetadata,
  EventStore,
  NewEvent,
  RecordedEvent,
  Revision,
  StreamAppend,
  StreamName,
  UnitWrite,
} from './event-store.js';
import { EventStoreUnavailable, NO_STREAM, WrongExpectedRevision } from './event-store.js';
import type { Clock, Ids } from './facts.js';
import type { Snapshots } from './snapshots.js';
import { charactersOf, isFullPage, ONE_PAGE, PAGE, pagesBackwards } from './stream-pages.js';
import { backOffMs } from './worker/back-off.js';
import type { Fence } from './worker/lease-fence.js';

const COLLISION = { firstMs: 2, maxMs: 1000 };

/** An event as a decision returns it. `id` fixes the event's id; without it `Ids` gives one. */
export type Decision<Event extends DomainEvent> = Event & { readonly id?: string };

/**
 * A decision: from the state to the events that follow, or throws to refuse. It may run several times for one
 * call, so it has no side effect.
 */
export type Decide<State, Event extends DomainEvent> = (
  state: State,
  loaded: Loaded<State>,
) => readonly Decision<Event>[] | Promise<readonly Decision<Event>[]>;

export interface LoadOptions {
  /** Use the cached state if there is one; `Loaded.cached` shows it. It may be behind the stream. */
  cached?: boolean;
  /** Remember that the stream does not exist. With `cached` that is used as a cached state is. */
  absence?: boolean;
}

export interface RunOptions extends LoadOptions {
  /**
   * For what a retried call must not do again (`EventContext.callId`): when an earlier run of it has appended to this stream, the decision
   * is not run and the events appended then are the outcome.
   */
  once?: boolean;
  /** Default 5. After this number of conflicts WrongExpectedRevision is thrown. */
  maxAttempts?: number;
  /** What becomes durable together with the decided events; nothing when none are decided (ADR 0074). */
  unit?: CommandWrites;
  /** Directly before each append. Of events decided under a lease: {@link leaseFence}. */
  fence?: Fence;
}

/** What a command stores beside the events of its own decision. */
export interface CommandWrites {
  writes?: readonly UnitWrite[];
  further?: readonly FurtherDecision[];
}

export interface StreamsOptions {
  /** Most cached states of short streams, and as many of long ones. 0 turns the cache off. Default 2,000. */
  cacheSize?: number;
  /** Store of states of long streams, for other processes and restarts. Default: none. */
  snapshots?: Snapshots;
  /** By category, a version that changes whenever the code changes that folds it. Without one its states are not stored. */
  stateVersions?: Readonly<Record<string, string>>;
  /** A snapshot could not be read or written: the stream is folded from its events. */
  onSnapshotFailure?: (stream: StreamName, error: Error) => void;
}

interface Reader {
  version: number;
  /** `steps[n]` turns version n + 1 into n + 2. */
  steps: ((data: never) => object)[];
}

interface CachedState extends Loaded<unknown> {
  aggregate: unknown;
  /** Most characters that the state may have: those of its events. */
  size: number;
}

/** Characters that the cached states may have, of short streams and of long ones. */
const MOST_CACHED = 64 * 1024 * 1024;
/** A state that many events made has hardly more than this: it would be a snapshot that is not stored. */
const LARGEST_CACHED = 4 * 1024 * 1024;
/** Of a state without text, so that their number is limited too. */
const LEAST_CACHED = 1024;

/** Of a serialized state. A larger one is folded from its events: parsing it would block the thread. */
const MAX_SNAPSHOT_BYTES = 4 * 1024 * 1024;
/** Between the processes of one installation, at most. */
const CLOCKS_DIFFER_MS = 600_000;
const readers = new WeakMap<object, Map<string, Reader>>();

const readersOf = (aggregate: Aggregate<never, never>): Map<string, Reader> => {
  let known = readers.get(aggregate);
  if (known) return known;
  known = new Map();
  for (const [type, version] of Object.entries<number>(aggregate.types)) {
    const steps = Array.from({ length: version - 1 }, (_, index) => {
      const step = aggregate.upcasters?.find((upcaster) => upcaster.type === type && upcaster.from === index + 1);
      if (!step) throw new Error(`${aggregate.category}: no upcaster for ${type} v${index + 1}`);
      return (data: never) => step.upcast(data);
    });
    known.set(type, { version, steps });
  }
  readers.set(aggregate, known);
  return known;
};

/**
 * A stored event for the domain: its type and its data in the current schema version.
 * @throws UnknownEventType when the aggregate lists neither the type nor so new a version
 */
export function readEvent<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  stored: Pick<RecordedEvent, 'stream' | 'type' | 'schemaVersion' | 'data'>,
): Event {
  const reader = readersOf(aggregate as never).get(stored.type);
  if (!reader || stored.schemaVersion > reader.version || !(stored.schemaVersion >= 1))
    throw new UnknownEventType(stored);
  let data = stored.data as object;
  for (let from = stored.schemaVersion; from < reader.version; from++) data = reader.steps[from - 1]!(data as never);
  return { type: stored.type, data } as Event;
}

/** A decision on another stream, stored with the one it belongs to. Its state is not cached. */
export interface FurtherDecision {
  readonly aggregate: Aggregate<unknown, DomainEvent>;
  readonly stream: StreamName;
  readonly load: Loaded<unknown> | (() => Promise<Loaded<unknown>>);
  readonly decide: Decide<unknown, DomainEvent>;
  readonly context: EventContext;
  /** The same events on every attempt, so that a store that has them returns its first result; `null`: nothing to append. */
  append?: StreamAppend | null | undefined;
}

/**
 * Runs decisions against streams: load, fold, decide, append at the expected revision, and again after a conflict.
 *
 * Folded states are kept in a bounded cache. A cached state may be behind, so nothing is concluded from it but what an
 * append at its revision confirms: a refusal, or a decision that has nothing to append, is repeated on a fresh state.
 */
export class Streams {
  private readonly cache: LRUCache<StreamName, CachedState> | undefined;
  /** States of streams longer than a page: many short streams do not evict what is costly to fold again. */
  private readonly long: LRUCache<StreamName, CachedState> | undefined;
  /** Streams that did not exist when they were last read with `absence`. Own, so that they do not evict states. */
  private readonly absent: LRUCache<StreamName, true> | undefined;
  /** Long streams that are being folded from their first event. */
  private readonly folding = new Map<StreamName, Promise<void>>();
  /** The last decision of each stream that has one in progress. */
  private readonly turns = new Map<StreamName, Promise<unknown>>();
  /** Revision of the newest snapshot of a stream that this process has read or written. */
  private readonly snapshotRevisions: LRUCache<StreamName, Revision> | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly options: StreamsOptions = {},
  ) {
    const max = options.cacheSize ?? 2000;
    if (max <= 0) return;
    this.cache = new LRUCache({ max, maxSize: MOST_CACHED });
    this.long = new LRUCache({ max, maxSize: MOST_CACHED });
    this.absent = new LRUCache({ max });
    this.snapshotRevisions = new LRUCache({ max });
  }

  /**
   * The current state of a stream, `aggregate.initial` at revision -1 when it does not exist.
   * @throws UnknownEventType, EventStoreUnavailable
   */
  async load<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    options: LoadOptions = {},
  ): Promise<Loaded<State>> {
    const entry = this.long?.get(stream) ?? this.cache?.get(stream);
    const isKnown = entry?.aggregate === aggregate;
    const known = isKnown && { state: entry.state as State, revision: entry.revision, chain: entry.chain };
    if (options.cached && known) return { ...known, cached: true };
    if (options.cached && options.absence && this.absent?.has(stream)) {
      return { state: aggregate.initial, revision: NO_STREAM, chain: CHAIN_START, cached: true };
    }
    const revision = this.store.knownRevision(stream);
    if (known && revision === known.revision) return known;
    if (revision === NO_STREAM) return this.initial(aggregate);
    // Streams only grow: a folded state stays valid, and only newer events are read.
    const start = known || { state: aggregate.initial, revision: NO_STREAM, chain: CHAIN_START };
    const first = await this.foldPage(aggregate, stream, start);
    if (options.absence && first.loaded.revision === NO_STREAM) this.rememberAbsence(stream);
    if (!first.isFull) return this.cacheState(aggregate, stream, first.loaded, first.size);
    // Callers of an uncached long stream wait for the first of them, then read newer events.
    const underWay = this.folding.get(stream);
    if (underWay) {
      await underWay;
      return this.load(aggregate, stream);
    }
    const folded = this.foldOn(aggregate, stream, first.loaded);
    const settled = folded.then(
      () => undefined,
      () => undefined,
    );
    if (this.long) this.folding.set(stream, settled);
    try {
      return await folded;
    } finally {
      if (this.folding.get(stream) === settled) this.folding.delete(stream);
    }
  }

  /**
   * Loads a stream, decides and appends the decided events. An empty decision appends nothing.
   * @throws what `decide` throws, WrongExpectedRevision after `maxAttempts` conflicts, UnknownEventType, EventStoreUnavailable
   */
  async runDecision<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    decide: Decide<State, Event>,
    context: EventContext,
    options: RunOptions = {},
  ): Promise<Decided<State, Event>> {
    return this.decideOn(aggregate, stream, undefined, decide, context, options);
  }

  /** The state of a stream that cannot exist yet, because its id was just created: no read. */
  initial<State, Event extends DomainEvent>(aggregate: Aggregate<State, Event>): Loaded<State> {
    return { state: aggregate.initial, revision: NO_STREAM, chain: CHAIN_START };
  }

  /** A stream that does not exist yet, because its id was just made and no other caller knows it: the next load needs no read where no other process appends. */
  noteUnused(stream: StreamName): void {
    this.store.noteUnused(stream);
  }

  /** A decision on another stream for `RunOptions.unit`. @param load the state to decide on, or how to get it; a function is called again after a conflict */
  further<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    load: Loaded<State> | (() => Promise<Loaded<State>>),
    decide: Decide<State, Event>,
    context: EventContext,
  ): FurtherDecision {
    return { aggregate, stream, load, decide, context } as unknown as FurtherDecision;
  }

  /**
   * {@link runDecision} on a state the caller has just loaded: it needs no second read unless the append conflicts.
   *
   * Decisions on one stream run one after the other in this process: they would conflict, and only one of them could win each round. Other
   * processes conflict by the expected revision.
   */
  async decideOn<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    loaded: Loaded<State> | undefined,
    decide: Decide<State, Event>,
    context: EventContext,
    options: RunOptions = {},
  ): Promise<Decided<State, Event>> {
    const mine = this.decideInTurn(this.turns.get(stream), aggregate, stream, loaded, decide, context, options);
    const settled = Promise.allSettled([mine]);
    this.turns.set(stream, settled);
    try {
      return await mine;
    } finally {
      if (this.turns.get(stream) === settled) this.turns.delete(stream);
    }
  }

  private async decideInTurn<State, Event extends DomainEvent>(
    turn: Promise<unknown> | undefined,
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    given: Loaded<State> | undefined,
    decide: Decide<State, Event>,
    context: EventContext,
    options: RunOptions,
  ): Promise<Decided<State, Event>> {
    if (!stream.startsWith(`${aggregate.category}-`))
      throw new Error(`${stream} is not a stream of category ${aggregate.category}`);
    if (turn) await turn;
    let loaded = given && !turn ? given : await this.load(aggregate, stream, given ? {} : options);
    const maxAttempts = options.maxAttempts ?? 5;
    // Attempt 0 is made on a cached state.
    for (let attempt = loaded.cached && !options.once ? 0 : 1; ; attempt++) {
      if (options.once && context.callId !== undefined && loaded.revision !== NO_STREAM) {
        const isThere = await this.hasAppended(stream, context.callId, context.callBeganAt);
        const earlier = isThere ? await this.appendedBy(aggregate, stream, context.callId) : undefined;
        if (earlier) return earlier;
      }
      try {
        const decided = await this.decideAndAppend(aggregate, stream, loaded, decide, context, options);
        if (attempt > 0 || decided.events.length > 0) return decided;
      } catch (error) {
        // After a failed store the append may have happened. Any other failure on a cached state is decided again on a fresh one.
        const isFinal =
          attempt === 0
            ? error instanceof EventStoreUnavailable
            : !(error instanceof WrongExpectedRevision) || attempt >= maxAttempts;
        if (isFinal) throw error;
      }
      // Jitter separates decisions that collided; at most 40 ms in all with five attempts.
      if (attempt > 1) await pause(backOffMs(attempt, COLLISION));
      loaded = await this.load(aggregate, stream);
    }
  }

  /** Whether an earlier run of this call has appended to the stream: read from its end, no further back than the call's start. */
  private async hasAppended(stream: StreamName, callId: string, beganAt: string | undefined): Promise<boolean> {
    const since = beganAt === undefined ? '' : new Date(Date.parse(beganAt) - CLOCKS_DIFFER_MS).toISOString();
    for await (const page of pagesBackwards(this.store, stream)) {
      if (page.some(({ metadata }) => metadata.correlationId === callId)) return true;
      if (page.at(-1)!.metadata.occurredAt < since) return false;
    }
    return false;
  }

  /** What an earlier run of this call appended, with the state at that revision. */
  private async appendedBy<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    callId: string,
  ): Promise<Decided<State, Event> | undefined> {
    let state = aggregate.initial;
    const events: Event[] = [];
    const recorded: RecordedEvent[] = [];
    for (let from = 0; ;) {
      const page = await this.store.readStream(stream, { from, ...ONE_PAGE });
      for (const stored of page) {
        const isOurs = stored.metadata.correlationId === callId;
        if (!isOurs && events.length > 0) break;
        const event = readEvent(aggregate, stored);
        state = aggregate.evolve(state, event);
        if (!isOurs) continue;
        events.push(event);
        recorded.push(stored);
      }
      const last = recorded.at(-1);
      const goesOn = last === page.at(-1) && isFullPage(page);
      if (last && !goesOn) {
        const { revision, position } = last;
        return { state, revision, chain: last.chain, events, recorded, position };
      }
      if (!isFullPage(page)) return undefined;
      from = page.at(-1)!.revision + 1;
    }
  }

  private async decideAndAppend<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    loaded: Loaded<State>,
    decide: Decide<State, Event>,
    context: EventContext,
    { unit, fence }: RunOptions,
  ): Promise<Decided<State, Event>> {
    const events = await decide(loaded.state, loaded);
    if (events.length === 0) {
      const { state, revision, chain } = loaded;
      return { state, revision, chain, events: [], recorded: [] };
    }
    const record = context.record?.isStored || aggregate.isAuxiliary ? undefined : context.record;
    const recorded = this.toNewEvents(aggregate, stream, loaded.chain, events, context, record);
    // Folded before the append: an event that `evolve` cannot handle must not get into the stream.
    let state = loaded.state;
    for (const event of events) state = aggregate.evolve(state, event);
    if (fence) await fence();
    const { revision, position }: AppendResult = unit
      ? await this.commit(unit, { stream, events: recorded, expected: loaded.revision })
      : await this.store.append(stream, recorded, loaded.revision);
    if (record) record.isStored = true;
    const after = { state, revision, chain: recorded[recorded.length - 1]!.chain };
    // In line, as it is on the path of each append.
    let size = 0;
    for (const { text } of recorded) size += text.data.length;
    this.cacheState(aggregate, stream, after, size);
    return { ...after, events: [...events], recorded, position };
  }

  private async commit({ writes = [], further = [] }: CommandWrites, last: StreamAppend): Promise<AppendResult> {
    const appends: StreamAppend[] = [];
    for (const one of further) {
      if (one.append === undefined) {
        const { aggregate, stream, load, context } = one;
        const loaded = typeof load === 'function' ? await load() : load;
        const events = await one.decide(loaded.state, loaded);
        // Folded before the append, as those of the other decision.
        for (let { state } = loaded, at = 0; at < events.length; at++) state = aggregate.evolve(state, events[at]!);
        const recorded = this.toNewEvents(aggregate, stream, loaded.chain, events, context, undefined);
        one.append = events.length > 0 ? { stream, events: recorded, expected: loaded.revision } : null;
      }
      if (one.append) appends.push(one.append);
    }
    try {
      const result = await this.store.commit({ writes, appends: [...appends, last] });
      for (const { stream } of appends) this.absent?.delete(stream);
      return result;
    } catch (error) {
      if (error instanceof WrongExpectedRevision)
        for (const one of further) if (one.stream === error.stream) one.append = undefined;
      throw error;
    }
  }

  private toNewEvents<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    previous: string,
    events: readonly Decision<Event>[],
    context: EventContext,
    record: EventRecord | undefined,
  ): NewEvent[] {
    const occurredAt = this.clock.now().toISOString();
    let chain = previous;
    const all: NewEvent[] = [];
    for (const event of events) {
      const type = event.type as Event['type'];
      if (!Object.hasOwn(aggregate.types, type)) throw new Error(`${aggregate.category}: ${type} is not in types`);
      const metadata: EventMetadata = {
        tenantId: context.tenantId,
        requestId: context.requestId,
        actor: context.actor,
        operation: context.operation,
        correlationId: context.callId ?? context.correlationId ?? context.requestId,
        causationId: context.causationId ?? context.requestId,
        occurredAt,
        partitionKey: context.partitionKey ?? context.tenantId,
      };
      if (context.traceparent !== undefined) metadata.traceparent = context.traceparent;
      if (context.sourceSequence !== undefined) metadata.sourceSequence = context.sourceSequence;
      if (record && all.length === 0) metadata.record = record.recordFor(stream, event);
      const id = event.id ?? this.ids.uuid();
      const schemaVersion = aggregate.types[type];
      const recorded = chainEvent(chain, { id, type, schemaVersion, data: event.data, metadata });
      chain = recorded.chain;
      all.push(recorded);
    }
    return all;
  }

  /** Folds one page onto a state. Between two pages other work of the thread runs. */
  private async foldPage<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    start: Loaded<State>,
  ): Promise<{ loaded: Loaded<State>; isFull: boolean; size: number }> {
    let { state, revision, chain } = start;
    const page = await this.store.readStream(stream, { from: revision + 1, ...ONE_PAGE });
    for (const stored of page) {
      if (stored.revision !== revision + 1)
        throw new Error(`${stream}: revision ${revision + 1} is missing, found ${stored.revision}`);
      state = aggregate.evolve(state, readEvent(aggregate, stored));
      revision = stored.revision;
      chain = stored.chain;
    }
    return { loaded: { state, revision, chain }, isFull: isFullPage(page), size: charactersOf(page) };
  }

  private async foldOn<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    start: Loaded<State>,
  ): Promise<Loaded<State>> {
    let { loaded, size } = await this.skipToSnapshot(aggregate, stream, start);
    for (let isFull = true; isFull;) {
      const page = await this.foldPage(aggregate, stream, loaded);
      ({ loaded, isFull } = page);
      size += page.size;
    }
    return this.cacheState(aggregate, stream, loaded, size);
  }

  /** The state of the stream's snapshot, if it is newer than `start` and matches the stored stream. */
  private async skipToSnapshot<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    start: Loaded<State>,
  ): Promise<{ loaded: Loaded<State>; size: number }> {
    const without = { loaded: start, size: 0 };
    const stateVersion = this.options.stateVersions?.[aggregate.category];
    if (stateVersion === undefined) return without;
    try {
      const snapshot = await this.options.snapshots?.read(stream);
      if (snapshot?.stateVersion !== stateVersion || snapshot.revision <= start.revision) return without;
      const { revision, chain } = snapshot;
      const [event] = await this.store.readStream(stream, { from: revision, limit: 1 });
      // Of another history, after events were restored from an older backup.
      if (event?.revision !== revision || event.chain !== chain) return without;
      const state = deserialize(snapshot.state) as State;
      this.snapshotRevisions?.set(stream, revision);
      return { loaded: { state, revision, chain }, size: snapshot.state.length };
    } catch (error) {
      // A snapshot only saves time: the state can always be folded.
      this.options.onSnapshotFailure?.(stream, error as Error);
      return without;
    }
  }

  /** Stores the state of a long stream once per page of its events, in the background. */
  private storeSnapshot(
    aggregate: Aggregate<never, never>,
    stream: StreamName,
    { state, revision, chain }: Loaded<unknown>,
  ) {
    const { snapshots, stateVersions, onSnapshotFailure } = this.options;
    const stateVersion = stateVersions?.[aggregate.category];
    if (!snapshots || stateVersion === undefined) return;
    if (revision - (this.snapshotRevisions?.get(stream) ?? NO_STREAM) < PAGE) return;
    this.snapshotRevisions?.set(stream, revision);
    setImmediate(() => {
      const bytes = serialize(state);
      if (bytes.length > MAX_SNAPSHOT_BYTES) return;
      // Retried with the next page of events.
      snapshots
        .write(stream, { revision, chain, stateVersion, state: bytes })
        .catch((error: unknown) => onSnapshotFailure?.(stream, error as Error));
    });
  }

  /** Unless this process has appended to the stream while it was read. */
  private rememberAbsence(stream: StreamName): void {
    if (!this.long?.has(stream) && !this.cache?.has(stream)) this.absent?.set(stream, true);
  }

  private cacheState<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    loaded: Loaded<State>,
    added: number,
  ): Loaded<State> {
    if (!this.cache || !this.long || loaded.revision === NO_STREAM) return loaded;
    this.absent?.delete(stream);
    const entry = this.long.peek(stream) ?? this.cache.peek(stream);
    // A slow read must not replace a newer state by an older one.
    if (entry?.aggregate === aggregate && entry.revision > loaded.revision) return loaded;
    const isLong = loaded.revision >= PAGE;
    if (isLong) this.cache.delete(stream);
    const { state, revision, chain } = loaded;
    const size = Math.min((entry?.size ?? LEAST_CACHED) + added, LARGEST_CACHED);
    (isLong ? this.long : this.cache).set(stream, { aggregate, state, revision, chain, size }, { size });
    if (isLong) this.storeSnapshot(aggregate as never, stream, loaded);
    return loaded;
  }
}
