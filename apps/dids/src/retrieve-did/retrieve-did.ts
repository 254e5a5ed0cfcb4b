import { notFound, retrieveDid, type ClientContext, type RetrievedDid } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { did, didStream } from '../did/did.state.js';
import { didOfPath, didRecord } from '../did/did-view.js';
import { didWebHost } from '../did/did-web.js';
import { DidPublication } from '../resolution/did-publication.js';
import { DidResolution } from '../resolution/did-resolution.js';

@Operation(retrieveDid)
export class RetrieveDid {
  constructor(
    private readonly streams: Streams,
    private readonly publication: DidPublication,
    private readonly resolution: DidResolution,
  ) {}

  async execute(request: RequestOf<typeof retrieveDid>, context: ClientContext): Promise<RetrievedDid> {
    const id = didOfPath(request.params.id);
    const { tenant } = context;
    const { state } = await this.streams.load(did, didStream(tenant.id, id));
    if (state.status === 'active')
      return didRecord(await this.publication.lookUp(tenant.id, state, eventContext(context)));
    // DIDs that the tenant has deleted do not resolve here; the platform stores all documents of its own host.
    if (state.status !== 'absent' || didWebHost(id) === tenant.host) throw notFound();
    const didDocument = await this.resolution.resolve(tenant.id, id);
    if (!didDocument) throw notFound();
    return { did: id, didDocument };
  }
}
