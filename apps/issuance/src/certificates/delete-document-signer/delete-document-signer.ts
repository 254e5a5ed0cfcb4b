import { deleteDocumentSigner, deleteStatusListSigner, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { keysDestroyedBy } from '../mobile-certificates/destroyed-keys.decisions.js';
import { deleteSigner } from '../mobile-certificates/signer.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';
import { signerUseOf } from '../mobile-certificates/signer-use.js';

@Operation(deleteDocumentSigner, deleteStatusListSigner)
export class DeleteDocumentSigner {
  constructor(
    private readonly streams: Streams,
    private readonly signingKeys: SigningKeys,
  ) {}

  async execute({ params }: RequestOf<typeof deleteDocumentSigner>, context: ClientContext): Promise<void> {
    const { id: tenantId } = context.tenant;
    const use = signerUseOf(context);
    const { events } = await this.streams.runDecision(
      mobileCertificates,
      mobileCertificatesStream(tenantId),
      (state) => deleteSigner(state, params.id, use),
      eventContext(context),
    );
    // After a failure DestroyedCertificateKeys does it.
    await this.signingKeys.destroySigningKeys(tenantId, keysDestroyedBy(events));
  }
}
