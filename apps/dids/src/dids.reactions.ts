import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { didCreated, didDeleted } from '@attestry/contracts';
import { readEvent, Streams, type RecordedEvent } from '@attestry/event-store';
import { fact, Reactions, type Fact, recordPurgedTenants } from '@attestry/service-kit';
import { did } from './did/did.state.js';
import { DidDeletion } from './did/did-deletion.js';

/** Categories of the events in {@link factsOf}. */
export const PUBLISHED = [did] as const;

/** The integration event of a domain event. */
export const factsOf = (stored: RecordedEvent): Fact[] => {
  const { tenantId } = stored.metadata;
  const event = readEvent(did, stored);
  switch (event.type) {
    case 'DidCreated':
      return [fact(didCreated, { tenantId, did: event.data.did, method: event.data.method })];
    case 'DidDeleted':
      return [fact(didDeleted, { tenantId, did: event.data.did })];
    case 'DidPublicationSeen':
    case 'DidDocumentUpdated':
    case 'DidMultikeysSeen':
    case 'DidReserved':
    case 'DidReleased':
    case 'DidDeletionStarted':
      return [];
  }
};

@Injectable()
export class DidsReactions implements OnApplicationBootstrap {
  constructor(
    private readonly reactions: Reactions,
    private readonly streams: Streams,
    private readonly deletion: DidDeletion,
  ) {}

  onApplicationBootstrap(): void {
    recordPurgedTenants('dids.purged-tenants', this.reactions, this.streams);
    this.reactions.publishFacts('dids', PUBLISHED, factsOf);
    this.reactions.start({
      name: 'dids.finish-deletions',
      of: [did],
      onEvents: async (events) => {
        for (const stored of events) if (stored.type === 'DidDeletionStarted') await this.finishDeletion(stored);
      },
    });
  }

  /** Usually the request has done it already: then the decision adds no event. */
  private async finishDeletion(stored: RecordedEvent): Promise<void> {
    const { state } = await this.streams.load(did, stored.stream);
    const { tenantId, requestId, actor, operation, correlationId, partitionKey, traceparent } = stored.metadata;
    await this.deletion.completeDeletion(stored.stream, state, {
      tenantId,
      requestId,
      actor,
      operation,
      correlationId,
      causationId: stored.id,
      partitionKey,
      ...(traceparent !== undefined && { traceparent }),
    });
  }
}
