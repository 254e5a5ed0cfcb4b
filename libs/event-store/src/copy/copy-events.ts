import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { CHAIN_START, verifyChain } from '../chain.js';
import {
  EventStoreUnavailable,
  NO_STREAM,
  WrongExpectedRevision,
  type AllPage,
  type EventStore,
  type NewEvent,
  type Position,
  type RecordedEvent,
  type Revision,
  type StreamName,
} from '../event-store.js';
import { tenantInName } from '../tenant-of.js';
import { backOffMs } from '../worker/back-off.js';

export interface CopyOptions {
  /** Default: every category. */
  categories?: readonly string[];
  /** Only events of this tenant are read, and those before them in their streams. Default: every tenant. */
  tenantId?: string;
  /** Whether a stream is copied, decided by one of its events. Default: every stream. */
  wanted?(event: RecordedEvent): boolean | Promise<boolean>;
  /** Streams that the target must have before an event; they are copied too. */
  needs?(event: RecordedEvent): readonly StreamName[];
  /** Categories whose streams are named by the hash of their content: one that the target has equals the source's. */
  interchangeable?: readonly string[];
  /**
   * Streams whose beginning retention has discarded: refused, or numbered from 0 at the target, where the first event
   * left cannot be verified. Default `refuse`.
   */
  discarded?: 'refuse' | 'renumber';
  /** Called after each page. */
  onProgress?(counts: CopyCounts): void;
  /** Ends after the current page. */
  signal?: AbortSignal;
}

export interface CopyCounts {
  /** Events of the source that were read. */
  read: number;
  /** Events written to the target in this run. */
  copied: number;
  /** Events that the target already had. */
  present: number;
  /** Streams that got events in this run. */
  streams: number;
  /** Streams whose revisions restart at 0, because retention discarded their beginning. */
  renumbered: number;
  /** How often the target gave an event a position before that of its predecessor: 0 unless a connection failed. */
  reordered: number;
}

/** The source's own events do not match their chain: one was changed, added or lost. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain';
  readonly code = 'BrokenChain';
  constructor(
    readonly stream: StreamName,
    readonly revision: Revision,
    why: string,
  ) {
    super(
      `the chain of ${stream} is broken at revision ${revision}: ${why}. No event from that revision on was copied`,
    );
  }
}

/** The target has a stream of this name with another history. */
export class TargetDiffers extends Error {
  override readonly name = 'TargetDiffers';
  readonly code = 'TargetDiffers';
  constructor(
    readonly stream: StreamName,
    readonly revision: Revision,
  ) {
    super(
      `${stream} at the target differs from the source: revision ${revision} is another event. The target stream was not changed`,
    );
  }
}

/** State of a stream. */
interface Head {
  wanted: boolean;
  /** Revision of the source's first event; added to the target's revisions. */
  offset: number;
  /** Last event of the source that was verified. `chain` is undefined before the first event of a stream cut by retention. */
  revision: Revision;
  chain: string | undefined;
  /** Last revision at the target, in its own numbers, including the events that wait in the window. */
  there: Revision;
  counted: boolean;
}

interface Append {
  stream: StreamName;
  expected: Revision;
  events: NewEvent[];
  characters: number;
}

const PAGE = 512;
const HEADS = 50_000;
const OPENED_TOGETHER = 64;
/** Limits of one append, and of all appends in flight. */
const MOST_EVENTS = 100;
const MOST_CHARACTERS = 128 * 1024;
const MOST_APPENDS = 128;
const WINDOW_CHARACTERS = 1024 * 1024;
const ATTEMPTS = 8;

const categoryOf = (stream: StreamName): string => stream.slice(0, stream.indexOf('-'));

/**
 * Copies events between any two stores in the order of the source: ids, revisions, metadata and chains unchanged, each chain verified on
 * the way. It may be interrupted at any time and run again: the target is queried for what it has, and an append is idempotent by its
 * events' ids. Memory does not grow with the history.
 *
 * @throws BrokenChain, TargetDiffers, EventStoreUnavailable
 */
export const copyEvents = async (
  source: EventStore,
  target: EventStore,
  options: CopyOptions = {},
): Promise<CopyCounts> => new Copying(source, target, options).copyAll();

class Copying {
  private readonly counts: CopyCounts = { read: 0, copied: 0, present: 0, streams: 0, renumbered: 0, reordered: 0 };
  private readonly heads = new LRUCache<StreamName, Head>({ max: HEADS });
  private window: Append[] = [];
  private characters = 0;
  private last: Position | undefined;

  constructor(
    private readonly source: EventStore,
    private readonly target: EventStore,
    private readonly options: CopyOptions,
  ) {}

  async copyAll(): Promise<CopyCounts> {
    for (let after: Position | undefined; ;) {
      const page = await this.readPage(after);
      await this.loadStreams(page.events);
      try {
        for (const event of page.events) await this.copyEvent(event);
      } catch (error) {
        // Events verified before a fault of the source are copied.
        if (error instanceof BrokenChain) await this.flush();
        throw error;
      }
      await this.flush();
      this.counts.read += page.events.length;
      this.options.onProgress?.({ ...this.counts });
      after = page.next;
      if (page.atEnd || this.options.signal?.aborted) return this.counts;
    }
  }

  private async readPage(after: Position | undefined): Promise<AllPage> {
    const { tenantId, categories } = this.options;
    if (tenantId === undefined) return this.source.readAll({ after, limit: PAGE, categories });
    const page = await this.source.readTenant(tenantId, after, PAGE);
    if (categories) page.events = page.events.filter(({ stream }) => categories.includes(categoryOf(stream)));
    return page;
  }

  /** Looks up all streams of a page concurrently. */
  private async loadStreams(events: readonly RecordedEvent[]): Promise<void> {
    const unknown = new Map<StreamName, RecordedEvent>();
    for (const event of events)
      if (!this.heads.has(event.stream) && !unknown.has(event.stream)) unknown.set(event.stream, event);
    const all = [...unknown.values()];
    for (let at = 0; at < all.length; at += OPENED_TOGETHER)
      await Promise.all(all.slice(at, at + OPENED_TOGETHER).map((event) => this.headOf(event)));
  }

  private async headOf(event: RecordedEvent, wanted?: true): Promise<Head> {
    const known = this.heads.get(event.stream);
    if (known && (known.wanted || !wanted)) return known;
    const head = await this.readHead(event, wanted ?? (await this.options.wanted?.(event)) ?? true);
    this.heads.set(event.stream, head);
    return head;
  }

  /** @param event the first one of the stream in this run, perhaps not its first */
  private async readHead(event: RecordedEvent, wanted: boolean): Promise<Head> {
    const { stream, revision } = event;
    const head: Head = { wanted, offset: 0, revision: revision - 1, chain: CHAIN_START, there: -1, counted: false };
    if (!wanted) return head;
    if (revision > 0) {
      const [first] = await this.source.readStream(stream, { limit: 1 });
      head.offset = first!.revision;
      if (head.offset > 0 && this.options.discarded !== 'renumber')
        throw new BrokenChain(stream, 0, `the source begins with revision ${head.offset}`);
      const [before] =
        revision > head.offset ? await this.source.readStream(stream, { from: revision - 1, limit: 1 }) : [];
      head.chain = before?.chain;
      // Earlier events may be other tenants': the stream is copied from its beginning.
      if (this.options.tenantId !== undefined && tenantInName(stream) === undefined)
        Object.assign(head, { revision: head.offset - 1, chain: head.offset === 0 ? CHAIN_START : undefined });
    }
    const [newest] = await this.target.readStream(stream, { direction: 'backwards', limit: 1 });
    if (!newest) return head;
    if (this.options.interchangeable?.includes(categoryOf(stream))) return { ...head, wanted: false };
    head.there = newest.revision;
    await this.compare(stream, head.offset, newest);
    return head;
  }

  /** The chain value of an event covers all events before it: equal values at both ends prove equal histories. */
  private async compare(stream: StreamName, offset: number, newest: RecordedEvent): Promise<void> {
    const [end] = await this.source.readStream(stream, { direction: 'backwards', limit: 1 });
    const both = Math.min(end!.revision - offset, newest.revision);
    const at = async (store: EventStore, event: RecordedEvent, revision: Revision) =>
      event.revision === revision ? event : (await store.readStream(stream, { from: revision, limit: 1 }))[0];
    const [theirs, ours] = await Promise.all([at(this.source, end!, both + offset), at(this.target, newest, both)]);
    if (theirs?.id !== ours?.id || theirs?.chain !== ours?.chain) throw new TargetDiffers(stream, both);
  }

  private async copyEvent(event: RecordedEvent, wanted?: true): Promise<void> {
    const head = await this.headOf(event, wanted);
    if (!head.wanted || event.revision <= head.revision) return;
    if (event.revision > head.revision + 1 && this.options.tenantId !== undefined)
      for (const before of await this.between(event.stream, head.revision + 1, event.revision))
        await this.copyEvent(before, true);
    if (event.revision !== head.revision + 1)
      throw new BrokenChain(event.stream, head.revision + 1, `it is missing, found ${event.revision}`);
    if (head.chain !== undefined) {
      const check = verifyChain([event], head.chain);
      if (!check.intact)
        throw new BrokenChain(event.stream, event.revision, `expected ${check.expected}, found ${check.found}`);
    }
    head.revision = event.revision;
    head.chain = event.chain;
    const revision = event.revision - head.offset;
    if (revision <= head.there) {
      this.counts.present++;
      return;
    }
    for (const needed of this.options.needs?.(event) ?? [])
      for (const before of await this.source.readStream(needed)) await this.copyEvent(before, true);
    if (!head.counted) {
      head.counted = true;
      this.counts.streams++;
      if (head.offset > 0) this.counts.renumbered++;
    }
    head.there = revision;
    await this.enqueue(event, revision);
  }

  /** Events of other tenants in a stream that has no tenant in its name, and was taken over. */
  private async between(stream: StreamName, from: Revision, to: Revision): Promise<RecordedEvent[]> {
    const events = await this.source.readStream(stream, { from, limit: to - from });
    return events.filter(({ revision }) => revision < to);
  }

  private async enqueue({ stream, ...event }: RecordedEvent, revision: Revision) {
    const characters = event.text.data.length + event.text.metadata.length;
    const newest = this.window.at(-1);
    if (
      newest?.stream === stream &&
      newest.events.length < MOST_EVENTS &&
      newest.characters + characters <= MOST_CHARACTERS
    ) {
      newest.events.push(event);
      newest.characters += characters;
    } else {
      if (this.window.length === MOST_APPENDS || this.characters + characters > WINDOW_CHARACTERS) await this.flush();
      this.window.push({
        stream,
        expected: revision === 0 ? NO_STREAM : revision - 1,
        events: [event],
        characters,
      });
    }
    this.characters += characters;
  }

  /**
   * Appends the waiting events. All of them are given to the target in one turn and in order, and every adapter keeps that order; embedded
   * and in PostgreSQL it is one transaction. The next window begins when all are stored.
   */
  private async flush(): Promise<void> {
    const { window } = this;
    if (!window.length) return;
    for (let attempt = 1; ; attempt++) {
      const results = await Promise.allSettled(
        window.map(({ stream, events, expected }) => this.target.append(stream, events, expected)),
      );
      const faults = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as Error);
      if (!faults.length) {
        this.order(results.map((result) => (result as PromiseFulfilledResult<{ position: Position }>).value.position));
        break;
      }
      // A failed append makes those behind it in its stream fail as well: all are retried.
      const away = faults.find((fault) => fault instanceof EventStoreUnavailable);
      if (!away) throw differing(faults[0]!);
      if (attempt === ATTEMPTS) throw away;
      await pause(backOffMs(attempt));
    }
    this.counts.copied += window.reduce((sum, { events }) => sum + events.length, 0);
    this.window = [];
    this.characters = 0;
  }

  private order(positions: readonly Position[]): void {
    for (const position of positions) {
      if (this.last !== undefined && this.target.comparePositions(position, this.last) < 0) this.counts.reordered++;
      this.last = position;
    }
  }
}

/** It was looked up before: another process writes to the target. */
const differing = (fault: Error): Error =>
  fault instanceof WrongExpectedRevision ? new TargetDiffers(fault.stream, fault.expected + 1) : fault;
