import { deleteDocumentSigner, deleteStatusListSigner, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { deleteSigner, requireSigner } from '../mobile-certificates/mobile-certificates.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';

@Operation(deleteDocumentSigner, deleteStatusListSigner)
export class DeleteDocumentSigner {
  constructor(
    private readonly streams: Streams,
    private readonly signingKeys: SigningKeys,
  ) {}

  async execute({ params }: RequestOf<typeof deleteDocumentSigner>, context: ClientContext): Promise<void> {
    const { id: tenantId } = context.tenant;
    const use = context.operation === deleteStatusListSigner.name ? 'status list' : 'document';
    const stream = mobileCertificatesStream(tenantId);
    const loaded = await this.streams.load(mobileCertificates, stream);
    const { keyId } = requireSigner(loaded.state, params.id, use);
    await this.streams.decideOn(
      mobileCertificates,
      stream,
      loaded,
      (state) => deleteSigner(state, params.id, use),
      eventContext(context),
    );
    await this.signingKeys.destroySigningKeys(tenantId, [keyId]);
  }
}
