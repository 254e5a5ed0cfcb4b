import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Streams, type Aggregate, type Clock, type DomainEvent, type Loaded } from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';

/** How stale a state that another process changed may be. Own changes are seen at once. */
const MAX_AGE_MS = 1000;

/** States at most a second old, for endpoints that would otherwise read the store for each request. */
@Injectable()
export class RecentStates {
  private readonly checked = new LRUCache<string, number>({ max: 5000 });

  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async load<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: string,
  ): Promise<Loaded<State>> {
    const now = this.clock.now().getTime();
    const recent = now - (this.checked.get(stream) ?? -Infinity) < MAX_AGE_MS;
    const loaded = await this.streams.load(aggregate, stream, { cached: recent });
    if (!loaded.cached) this.checked.set(stream, now);
    return loaded;
  }

  /** For a refusal: a cached state alone refuses nothing. */
  reload<State, Event extends DomainEvent>(aggregate: Aggregate<State, Event>, stream: string): Promise<Loaded<State>> {
    this.checked.delete(stream);
    return this.load(aggregate, stream);
  }
}
