import { LRUCache } from 'lru-cache';
import type { Aggregate, DomainEvent, Loaded } from '../aggregate.js';
import type { StreamName } from '../event-store.js';
import { NO_STREAM } from '../event-store.js';
import { PAGE } from '../stream-pages.js';
import type { StreamSnapshots } from './stream-snapshots.js';

interface CachedState extends Loaded<unknown> {
  aggregate: unknown;
  /** Most characters that the state may have: those of its events. */
  size: number;
}

/** Characters that the cached states may have, of short streams and of long ones. */
const MOST_CACHED = 64 * 1024 * 1024;
/** A state that many events made has hardly more than this: it would be a snapshot that is not stored. */
const LARGEST_CACHED = 4 * 1024 * 1024;
/** Size of a state without text, so that their number is limited too. */
const LEAST_CACHED = 1024;

/** Folded states, bounded in number and in characters, and streams that do not exist. */
export class StateCache {
  private readonly short: LRUCache<StreamName, CachedState>;
  /** States of streams longer than a page: many short streams do not evict what is costly to fold again. */
  private readonly long: LRUCache<StreamName, CachedState>;
  /** Streams that did not exist when they were last read with `absence`. Own, so that they do not evict states. */
  readonly absent: LRUCache<StreamName, true>;

  constructor(
    max: number,
    private readonly snapshots: StreamSnapshots,
  ) {
    this.short = new LRUCache({ max, maxSize: MOST_CACHED });
    this.long = new LRUCache({ max, maxSize: MOST_CACHED });
    this.absent = new LRUCache({ max });
  }

  find(stream: StreamName): CachedState | undefined {
    return this.long.get(stream) ?? this.short.get(stream);
  }

  /** Unless this process has appended to the stream while it was read. */
  keepAbsence(stream: StreamName): void {
    if (!this.long.has(stream) && !this.short.has(stream)) this.absent.set(stream, true);
  }

  /** A long stream also gets a snapshot. @param added characters of the events that were folded onto the state that was kept */
  keep<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: StreamName,
    loaded: Loaded<State>,
    added: number,
  ): Loaded<State> {
    if (loaded.revision === NO_STREAM) return loaded;
    this.absent.delete(stream);
    const entry = this.long.peek(stream) ?? this.short.peek(stream);
    // A slow read must not replace a newer state by an older one.
    if (entry?.aggregate === aggregate && entry.revision > loaded.revision) return loaded;
    const isLong = loaded.revision >= PAGE;
    if (isLong) this.short.delete(stream);
    const { state, revision, chain } = loaded;
    const size = Math.min((entry?.size ?? LEAST_CACHED) + added, LARGEST_CACHED);
    (isLong ? this.long : this.short).set(stream, { aggregate, state, revision, chain, size }, { size });
    if (isLong) this.snapshots.store(aggregate as never, stream, loaded);
    return loaded;
  }
}
