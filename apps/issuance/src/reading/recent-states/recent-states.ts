import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Aggregate, type Clock, type DomainEvent, type Loaded } from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';

/** How stale a state that another process changed may be. Own changes are seen at once. */
const MAX_AGE_MS = 1000;
const FROM_MEMORY = { cached: true, absence: true };

/**
 * States at most a second old, for endpoints that would otherwise read the store for each request: one read per stream and second, also of
 * a stream that does not exist.
 */
@Injectable()
export class RecentStates {
  private readonly checked = new LRUCache<string, number>({ max: 5000 });
  private readonly reading = new Map<string, Promise<unknown>>();

  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async load<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: string,
  ): Promise<Loaded<State>> {
    if (this.clock.now().getTime() - (this.checked.get(stream) ?? -Infinity) >= MAX_AGE_MS) {
      const underWay = this.reading.get(stream);
      if (!underWay) return this.read(aggregate, stream);
      await underWay;
    }
    // Not what the other request has read: this process may have appended since.
    return this.streams.load(aggregate, stream, FROM_MEMORY);
  }

  /** The stored state; only that the stream does not exist may be known for up to a second. For what must end at once. */
  loadStored<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: string,
  ): Promise<Loaded<State>> {
    return this.load(aggregate, stream).then((loaded) =>
      loaded.cached && loaded.revision >= 0 ? this.reload(aggregate, stream) : loaded,
    );
  }

  /** For a refusal: a cached state alone refuses nothing. */
  reload<State, Event extends DomainEvent>(aggregate: Aggregate<State, Event>, stream: string): Promise<Loaded<State>> {
    return this.read(aggregate, stream);
  }

  private async read<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: string,
  ): Promise<Loaded<State>> {
    const beganAt = this.clock.now().getTime();
    const reading = this.streams.load(aggregate, stream, { absence: true });
    this.reading.set(stream, reading);
    try {
      const loaded = await reading;
      this.checked.set(stream, beganAt);
      return loaded;
    } finally {
      if (this.reading.get(stream) === reading) this.reading.delete(stream);
    }
  }
}
