import type { Aggregate, Decided, DomainEvent } from '../aggregate.js';
import type { EventStore, RecordedEvent, StreamName } from '../event-store.js';
import { readEvent } from './read-event.js';
import { isFullPage, ONE_PAGE, pagesBackwards } from '../stream-pages.js';

/** Between the processes of one installation, at most. */
const CLOCKS_DIFFER_MS = 600_000;

/** Whether an earlier run of this call has appended to the stream: read from its end, no further back than the call's start. */
export async function hasAppended(
  store: EventStore,
  stream: StreamName,
  callId: string,
  beganAt: string | undefined,
): Promise<boolean> {
  const since = beganAt === undefined ? '' : new Date(Date.parse(beganAt) - CLOCKS_DIFFER_MS).toISOString();
  for await (const page of pagesBackwards(store, stream)) {
    if (page.some(({ metadata }) => metadata.correlationId === callId)) return true;
    if (page.at(-1)!.metadata.occurredAt < since) return false;
  }
  return false;
}

/** Events that an earlier run of this call appended, with the state at that revision. */
export async function appendedBy<State, Event extends DomainEvent>(
  store: EventStore,
  aggregate: Aggregate<State, Event>,
  stream: StreamName,
  callId: string,
): Promise<Decided<State, Event> | undefined> {
  let state = aggregate.initial;
  const events: Event[] = [];
  const recorded: RecordedEvent[] = [];
  for (let from = 0; ;) {
    const page = await store.readStream(stream, { from, ...ONE_PAGE });
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
