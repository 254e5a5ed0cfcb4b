import type { Aggregate, DomainEvent, EventContext, EventRecord } from '../aggregate.js';
import { chainEvent } from '../chain.js';
import type { Decision } from './decision.js';
import type { EventMetadata, NewEvent, StreamName } from '../event-store.js';
import type { Clock, Ids } from '../facts.js';

/**
 * Events of a decision, as they are stored: with their metadata, and each chained to the one before it.
 * @param previous chain value of the stream's last event
 * @param record what the first event holds of the call
 */
export function toNewEvents<State, Event extends DomainEvent>(
  { clock, ids }: { clock: Clock; ids: Ids },
  aggregate: Aggregate<State, Event>,
  stream: StreamName,
  previous: string,
  events: readonly Decision<Event>[],
  context: EventContext,
  record: EventRecord | undefined,
): NewEvent[] {
  const occurredAt = clock.now().toISOString();
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
    const id = event.id ?? ids.uuid();
    const schemaVersion = aggregate.types[type];
    const recorded = chainEvent(chain, { id, type, schemaVersion, data: event.data, metadata });
    chain = recorded.chain;
    all.push(recorded);
  }
  return all;
}
