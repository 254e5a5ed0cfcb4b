import { deleteDocumentSigner, type ClientContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { deleteSigner, requireSigner } from '../mobile-certificates/mobile-certificates.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';

@Operation(deleteDocumentSigner)
export class DeleteDocumentSigner {
  constructor(
    private readonly streams: Streams,
    private readonly signingKeys: SigningKeys,
  ) {}

  async execute({ params }: RequestOf<typeof deleteDocumentSigner>, context: ClientContext): Promise<void> {
    const { id: tenantId } = context.tenant;
    const stream = mobileCertificatesStream(tenantId);
    const loaded = await this.streams.load(mobileCertificates, stream);
    const { keyId } = requireSigner(loaded.state, params.id);
    await this.streams.decideOn(
      mobileCertificates,
      stream,
      loaded,
      (state) => deleteSigner(state, params.id),
      eventContext(context),
    );
    await this.signingKeys.destroySigningKeys(tenantId, [keyId]);
  }
}
