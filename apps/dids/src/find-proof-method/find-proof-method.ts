import { findProofMethod, type ProofMethod } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, serviceContext, type RequestOf } from '@attestry/service-kit';
import { proofMethodOf } from '../did/did.decisions.js';
import { did, didStream } from '../did/did.state.js';
import { DidPublication } from '../resolution/did-publication.js';

@Operation(findProofMethod)
export class FindProofMethod {
  constructor(
    private readonly streams: Streams,
    private readonly publication: DidPublication,
  ) {}

  async execute(
    { body }: RequestOf<typeof findProofMethod>,
    { requestId }: { requestId: string },
  ): Promise<ProofMethod> {
    const { tenantId, verificationMethod } = body;
    const [name] = verificationMethod.split('#', 1) as [string];
    const { state } = await this.streams.load(did, didStream(tenantId, name));
    if (state.status !== 'active') return { verificationMethod };
    const context = serviceContext('dids.find-proof-method', tenantId, requestId);
    const current = await this.publication.lookUp(tenantId, state, context);
    return { verificationMethod: proofMethodOf(current, verificationMethod) };
  }
}
