import { isDeepStrictEqual } from 'node:util';
import { Inject } from '@nestjs/common';
import { notFound, retrieveDid, type ClientContext, type RetrievedDid } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { activeDid, seenPublished } from '../did/did.decisions.js';
import { did, didStream, type ActiveDid } from '../did/did.state.js';
import { didOfPath, didRecord } from '../did/did-view.js';
import { didWebHost } from '../did/did-web.js';
import { DidResolution } from '../resolution/did-resolution.js';
import { PublishedDocuments } from '../resolution/published-documents.js';

@Operation(retrieveDid)
export class RetrieveDid {
  constructor(
    private readonly streams: Streams,
    private readonly published: PublishedDocuments,
    private readonly resolution: DidResolution,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(request: RequestOf<typeof retrieveDid>, context: ClientContext): Promise<RetrievedDid> {
    const id = didOfPath(request.params.id);
    const { tenant } = context;
    const stream = didStream(tenant.id, id);
    const { state } = await this.streams.load(did, stream);
    if (state.status === 'active') return didRecord(await this.lookedUp(stream, state, context));
    // DIDs that the tenant has deleted do not resolve here; the platform stores all documents of its own host.
    if (state.status !== 'absent' || didWebHost(id) === tenant.host) throw notFound();
    const didDocument = await this.resolution.resolve(tenant.id, id);
    if (!didDocument) throw notFound();
    return { did: id, didDocument };
  }

  /** A did:web on another host is complete once its document is found there; until then each retrieval fetches it. */
  private async lookedUp(stream: string, state: ActiveDid, context: ClientContext): Promise<ActiveDid> {
    if (state.registrationStatus !== 'PROCESSING') return state;
    const document = await this.published.fetch(context.tenant!.id, state.did);
    if (!isDeepStrictEqual(document, state.document)) return state;
    const { state: seen } = await this.streams.runDecision(
      did,
      stream,
      (current) => seenPublished(current, this.clock.now()),
      eventContext(context),
    );
    return activeDid(seen);
  }
}
