import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type EventContext } from '@attestry/event-store';
import { CLOCK } from '@attestry/service-kit';
import { activeDid, awaitsDocument, seenPublished } from '../did/did.decisions.js';
import { did, didStream, type ActiveDid } from '../did/did.state.js';
import { withoutLinkedDomains } from '../did/linked-domains.js';
import { publishesMultikeys, withoutMultikeys } from '../did/multikeys.js';
import { PublishedDocuments } from './published-documents.js';

/** Whether the documents of the tenant's DIDs are published where the DIDs name them. */
@Injectable()
export class DidPublication {
  constructor(
    private readonly streams: Streams,
    private readonly published: PublishedDocuments,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** A did:web on another host is complete once its document is found there; until then each look-up fetches it. */
  async lookUp(tenantId: string, state: ActiveDid, context: EventContext): Promise<ActiveDid> {
    if (!awaitsDocument(state)) return state;
    const document = await this.published.fetch(tenantId, state.did);
    if (!document) return state;
    const seen = {
      isPublished: isDeepStrictEqual(
        withoutMultikeys(withoutLinkedDomains(document)),
        withoutMultikeys(state.document),
      ),
      hasMultikeys: publishesMultikeys(document, state.document),
    };
    if (!seen.isPublished && !seen.hasMultikeys) return state;
    const { state: current } = await this.streams.runDecision(
      did,
      didStream(tenantId, state.did),
      (before) => seenPublished(before, seen, this.clock.now()),
      context,
    );
    return activeDid(current);
  }
}
