import { setTimeout as pause } from 'node:timers/promises';
import type { Aggregate, Decided, DomainEvent, EventContext, Loaded } from '../aggregate.js';
import { CHAIN_START } from '../chain.js';
import type { CommandWrites, Decide, FurtherDecision, LoadOptions, RunOptions } from './decision.js';
import { appendedBy, hasAppended } from './earlier-run.js';
import type { AppendResult, EventStore, StreamAppend, StreamName } from '../event-store.js';
import { EventStoreUnavailable, NO_STREAM, WrongExpectedRevision } from '../event-store.js';
import type { Clock, Ids } from '../facts.js';
import { readEvent } from './read-event.js';
import { StateCache } from './state-cache.js';
import { charactersOf, isFullPage, ONE_PAGE } from '../stream-pages.js';
import { StreamSnapshots, type SnapshotOptions } from './stream-snapshots.js';
import { toNewEvents } from './to-new-events.js';
import { backOffMs } from '../worker/back-off.js';

const COLLISION = { firstMs: 2, maxMs: 1000 };

export interface StreamsOptions extends SnapshotOptions {
  /** Most cached states of short streams, and as many of long ones. 0 turns the cache off. Default 2,000. */
  cacheSize?: number;
}

/**
 * Runs decisions against streams: load, fold, decide, append at the expected revision, and again after a conflict.
 *
 * Folded states are kept in a bounded cache. A cached state may be behind, so nothing is concluded from it but what an
 * append at its revision confirms: a refusal, or a decision that has nothing to append, is repeated on a fresh state.
 */
export class Streams {
  private readonly facts: { clock: Clock; ids: Ids };
  /** Without one nothing is cached. */
  private readonly states: StateCache | undefined;
  private readonly snapshots: StreamSnapshots;
  /** Long streams that are being folded from their first event. */
  private readonly folding = new Map<StreamName, Promise<void>>();
  /** The last decision of each stream that has one in progress. */
  private readonly turns = new Map<StreamName, Promise<unknown>>();

  constructor(
    private readonly store: EventStore,
    clock: Clock,
    ids: Ids,
    options: StreamsOptions = {},
  ) {
    this.facts = { clock, ids };
    const max = options.cacheSize ?? 2000;
    this.snapshots = new StreamSnapshots(store, options, max);
    if (max > 0) this.states = new StateCache(max, this.snapshots);
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
    const entry = this.states?.find(stream);
    const isKnown = entry?.aggregate === aggregate;
    const known = isKnown && { state: entry.state as State, revision: entry.revision, chain: entry.chain };
    if (options.cached && known) return { ...known, cached: true };
    if (options.cached && options.absence && this.states?.absent.has(stream)) {
      return { state: aggregate.initial, revision: NO_STREAM, chain: CHAIN_START, cached: true };
    }
    const revision = this.store.knownRevision(stream);
    if (known && revision === known.revision) return known;
    if (revision === NO_STREAM) return this.initial(aggregate);
    // Streams only grow: a folded state stays valid, and only newer events are read.
    const start = known || { state: aggregate.initial, revision: NO_STREAM, chain: CHAIN_START };
    const first = await this.foldPage(aggregate, stream, start);
    if (options.absence && first.loaded.revision === NO_STREAM) this.states?.keepAbsence(stream);
    if (!first.isFull) return this.states?.keep(aggregate, stream, first.loaded, first.size) ?? first.loaded;
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
    if (this.states) this.folding.set(stream, settled);
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
        const isThere = await hasAppended(this.store, stream, context.callId, context.callBeganAt);
        const earlier = isThere ? await appendedBy(this.store, aggregate, stream, context.callId) : undefined;
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
    const recorded = toNewEvents(this.facts, aggregate, stream, loaded.chain, events, context, record);
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
    this.states?.keep(aggregate, stream, after, size);
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
        const recorded = toNewEvents(this.facts, aggregate, stream, loaded.chain, events, context, undefined);
        one.append = events.length > 0 ? { stream, events: recorded, expected: loaded.revision } : null;
      }
      if (one.append) appends.push(one.append);
    }
    try {
      const result = await this.store.commit({ writes, appends: [...appends, last] });
      for (const { stream } of appends) this.states?.absent.delete(stream);
      return result;
    } catch (error) {
      if (error instanceof WrongExpectedRevision)
        for (const one of further) if (one.stream === error.stream) one.append = undefined;
      throw error;
    }
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
    let { loaded, size } = await this.snapshots.skipTo(aggregate, stream, start);
    for (let isFull = true; isFull;) {
      const page = await this.foldPage(aggregate, stream, loaded);
      ({ loaded, isFull } = page);
      size += page.size;
    }
    return this.states?.keep(aggregate, stream, loaded, size) ?? loaded;
  }
}
