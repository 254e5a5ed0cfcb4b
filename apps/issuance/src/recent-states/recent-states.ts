import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Streams, type Aggregate, type Clock, type DomainEvent } from '@attestry/event-store';
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

  /** @param isUsable a state from memory for which it is false is read again: a cached state alone refuses nothing */
  async load<State, Event extends DomainEvent>(
    aggregate: Aggregate<State, Event>,
    stream: string,
    isUsable?: (state: State) => boolean,
  ): Promise<State> {
    const now = this.clock.now().getTime();
    const recent = now - (this.checked.get(stream) ?? -Infinity) < MAX_AGE_MS;
    let loaded = await this.streams.load(aggregate, stream, { cached: recent });
    if (loaded.cached && isUsable && !isUsable(loaded.state)) loaded = await this.streams.load(aggregate, stream);
    if (!loaded.cached) this.checked.set(stream, now);
    return loaded.state;
  }
}
