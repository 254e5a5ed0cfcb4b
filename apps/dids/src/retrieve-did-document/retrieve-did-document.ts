import { notFound, retrieveDidDocument, type ContextOf } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { activeDid } from '../did/did.decisions.js';
import { did, didStream } from '../did/did.state.js';
import { withLinkedDomain } from '../did/linked-domains.js';
import { didOfDocumentPath } from '../did/did-web.js';

/**
 * did:web §3.2: the requested host, the tenant's own or its custom domain, and the path name the DID. Any active DID of this name is
 * served, also one not yet found published.
 */
@Operation(retrieveDidDocument)
export class RetrieveDidDocument {
  constructor(private readonly streams: Streams) {}

  async execute(
    request: RequestOf<typeof retrieveDidDocument>,
    { tenant, publicUrl }: ContextOf<typeof retrieveDidDocument>,
  ): Promise<Record<string, unknown>> {
    const name = didOfDocumentPath(new URL(publicUrl).host, request.raw?.url ?? '');
    if (name === undefined) throw notFound();
    const { document } = activeDid((await this.streams.load(did, didStream(tenant.id, name))).state);
    return withLinkedDomain(document, new URL(publicUrl).origin);
  }
}
